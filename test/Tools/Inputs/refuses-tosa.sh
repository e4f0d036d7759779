#!/bin/sh
# Finds a program interesting, by an exit code that is not 0, while the planner
# refuses its op of TOSA.
! ckpt-opt --ckpt-plan=quiet=true "$1" -o /dev/null 2>&1 | grep -q "expected ops that ckpt lowers, but got 'tosa.exp'"
