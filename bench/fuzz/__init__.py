"""Fuzzing: damaged models, texts and OM files must end in a result or in one clear message.

::

    python -m bench.fuzz onnx --count 2000 --seed 0
    python -m bench.fuzz mlir --count 2000
    python -m bench.fuzz om --count 5000
    python -m bench.fuzz onnx --case 1234          # one case again, with the traceback
    python -m bench.fuzz onnx mlir --count 2000 --seed 1 2 3 --write       # and the page docs/fuzz.md

A case is made from a seed, a number, and a small valid file (the *seed file*) by a few *mutations*; the same numbers
give the same bytes. It fails when it ends in an exception that is no GeError or hides a fault of ours, takes more than
10 s of CPU time, needs more than 512 MB beyond what was in use, kills the process, or reads back as something else. An
OM file must not need more than four times its size while it is read, shown and written (at least 4 MB are allowed).

| module | what |
|---|---|
| ``onnx_models``, ``stage_texts``, ``om_files`` | the three targets: seed files, mutations, what is done with a case |
| ``small_models`` | models that the seed files of stage texts and OM files are compiled from |
| ``byte_mutations``, ``message_mutations`` | changes of bytes and protobuf messages |
| ``text_mutations``, ``module_mutations`` | changes of MLIR text and of parsed modules |
| ``passes`` | single passes on the module of a case |
| ``round_trip`` | whether a module reads back from its text |
| ``memory`` | how much memory a piece of work needs at most |
| ``sandbox`` | running cases in forked processes with limits |
| ``verdict`` | whether an exception is a clear message |
| ``page`` | the page docs/fuzz.md |
| ``minimise`` | making a failing case small |
"""
