"""Errors that users see: a stable code, what happened, where, why, and what to do about it.

Every error a user can cause is a :class:`GeError` whose code is a key of :data:`ERRORS`. To add one, add an entry to
the group of its code range (``_INPUT``, ``_OPTIONS``, ...) and run ``python -m ge.ir.errors > docs/errors.md``.

| range  | about                                                            |
|--------|------------------------------------------------------------------|
| GE1xxx | input files and models                                           |
| GE2xxx | options                                                          |
| GE3xxx | text and IR: parsing, verification, rewriting                    |
| GE4xxx | compilation: no kernel fits, on-chip memory overflow             |
| GE5xxx | OM files                                                         |
| GE6xxx | run time                                                         |
| GE9xxx | faults of this program                                           |
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ErrorKind:
    """What one error code means, independent of the place where it is raised."""

    title: str
    cause: str
    remedy: str


_INPUT = {
    "GE1001": ErrorKind(
        "input file cannot be read",
        "The file does not exist, is a directory, or may not be read by this user.",
        "Check the path and the permissions of the file.",
    ),
    "GE1002": ErrorKind(
        "input file type is unknown",
        "The type of an input is taken from its extension: .mlir, .onnx or .om.",
        "Rename the file, or name its type with -f mlir, -f onnx or -f om.",
    ),
    "GE1003": ErrorKind(
        "output file cannot be written",
        "The folder does not exist, may not be written by this user, or the disk is full.",
        "Check the path given with -o and the free space there.",
    ),
    "GE1004": ErrorKind(
        "input file is not text",
        "Stage files (.mlir) are UTF-8 text; this file has other bytes in it.",
        "Check that the file is a stage file; a model is read by its extension (.onnx, .om) or with -f.",
    ),
    "GE1010": ErrorKind(
        "file is not an ONNX model",
        "The file is empty, is of another type, or holds no graph.",
        "Check that the file was exported as ONNX; python -m onnx.checker tells more.",
    ),
    "GE1011": ErrorKind(
        "model file is truncated",
        "The file begins as an ONNX model and breaks off, as after an interrupted download or a full disk.",
        "Get the file again and compare its size.",
    ),
    "GE1012": ErrorKind(
        "external data of the model cannot be read",
        "The model keeps this tensor in another file, which is missing, may not be read, or is too short.",
        "Copy the data files of the model next to it, under the names they had when it was exported.",
    ),
    "GE1013": ErrorKind(
        "external data of the model lie outside its folder",
        "A model may only refer to files in its own folder or below, so that opening a model from elsewhere cannot "
        "read other files of this machine.",
        "Copy the data file into the folder of the model and save the model with its name relative to that.",
    ),
    "GE1014": ErrorKind(
        "tensor of the model does not match its shape",
        "The number of elements stored differs from what shape and element type say.",
        "Export the model again; the file is damaged or was written by a faulty tool.",
    ),
    "GE1015": ErrorKind(
        "opset of the model is not supported",
        "The model asks for a newer opset than the installed onnx package knows, for one that cannot exist, or for two "
        "versions of one domain.",
        "Export the model with an older opset, or install a newer onnx package.",
    ),
    "GE1016": ErrorKind(
        "operator cannot be converted to the newest opset",
        "The operator changed between the opset of the model and the newest one, and this use of it has no newer form.",
        "Export the model with a newer opset.",
    ),
    "GE1017": ErrorKind(
        "node is not valid at the opset of the model",
        "The node has an attribute, input or output that its operator does not have at the opset that the model "
        "declares, or lacks one or has one of another type, as after editing the model or its opset by hand.",
        "Export the model again with the opset that it should have.",
    ),
    "GE1018": ErrorKind(
        "model uses a value that nothing defines",
        "A node or output names a value that is no input, no initializer and no output of an earlier node.",
        "Run python -m onnx.checker on the model and export it again.",
    ),
    "GE1019": ErrorKind(
        "input shape does not fit the model",
        "The name is not an input of the model, the rank differs, or a dimension that the model fixes would change.",
        "Compare with the inputs that the message lists.",
    ),
    "GE1020": ErrorKind(
        "model is malformed",
        "A name is not text, an element type does not exist, or another field has a value that the format does not "
        "allow.",
        "Get the file again; if it is whole, export the model again.",
    ),
    "GE1021": ErrorKind(
        "operator cannot be expressed at the opset asked for",
        "The operator, or the type, attribute or form in which it is used, came with a newer opset, and no combination "
        "of older operators does the same, or its inputs would have to be constant for it.",
        "Give a newer opset with --target-opset, or make the inputs named constant, for example with --constant-fold.",
    ),
}

_OPTIONS = {
    "GE2001": ErrorKind(
        "pass is unknown",
        "No pass of this name is registered by this project or by a plug-in.",
        "List the passes with ge-opt --list-passes.",
    ),
    "GE2002": ErrorKind(
        "pass option is wrong",
        "The pass has no option of this name, or the option cannot take this value.",
        "List the passes and their options with ge-opt --list-passes.",
    ),
    "GE2003": ErrorKind(
        "options contradict each other",
        "Two of the options given exclude each other.",
        "Give only one of them.",
    ),
    "GE2004": ErrorKind(
        "output type is unknown",
        "The type of the output is taken from the extension of -o, or from -t: mlir, onnx or om.",
        "Name an output file that ends in .mlir, .onnx or .om, or give -t.",
    ),
    "GE2005": ErrorKind(
        "plug-in cannot be loaded",
        "The file is missing, raises an error when it is imported, or registers a name that is taken.",
        "Run python on the file alone; see docs/contributing.md for what a plug-in contains.",
    ),
    "GE2006": ErrorKind(
        "option has a wrong value",
        "The option is known, but cannot take this value.",
        "See --help for the values it takes.",
    ),
    "GE2007": ErrorKind(
        "option is unknown",
        "The command has no option of this name.",
        "See --help for the options.",
    ),
    "GE2008": ErrorKind(
        "option is missing",
        "The command cannot work without this option.",
        "Give it; --help shows an example.",
    ),
    "GE2009": ErrorKind(
        "option would have no effect",
        "ATC knows the option or the value, this compiler does not do what it asks for.",
        "Leave it out.",
    ),
    "GE2010": ErrorKind(
        "there is nothing to reduce",
        "ge-reduce keeps what fails; this module runs through with equal numbers, or its command ends with status 0.",
        "Check the passes or the command; --seed tries other inputs.",
    ),
    "GE2011": ErrorKind(
        "operator is registered wrongly",
        "What a plug-in says of an operator is incomplete, contradicts itself, or is said twice.",
        "Correct the registration; docs/tutorial-custom-operator.md shows a complete one.",
    ),
    "GE2020": ErrorKind(
        "SoC is unknown",
        "No description of a SoC has this name, in this project or in the folder that GE_SOC_PATH names.",
        "Use one of the names listed, or add a file NAME.toml to a folder and name the folder in GE_SOC_PATH.",
    ),
    "GE2021": ErrorKind(
        "SoC description is wrong",
        "A SoC file is TOML and has every entry that targets/ascend/soc/ascend310p3.toml has.",
        "Correct the entry named here.",
    ),
    "GE2031": ErrorKind(
        "optimisation config is wrong",
        "The file of --optimization_config is one JSON object: "
        '{"memory_optimization": {"reuse_memory": true, "workspace_size": 1024, "enable_double_buffer": true}}.',
        "Correct the file at the place that the message names.",
    ),
    "GE2030": ErrorKind(
        "fusion switch file is wrong",
        "The file of --fusion_switch_file has another form than ATC's, or switches something that does not exist.",
        'Write {"Switch": {"GraphFusion": {"NAME": "off"}, "UBFusion": {}}}, where NAME is ALL, a pass or a rule; '
        "ge-opt --list-passes lists the passes, docs/rules.md the rules.",
    ),
    "GE2040": ErrorKind(
        "output is not in the model",
        "An output is named as NODE:NUMBER or by its own name; what subgraphs and functions compute cannot be one.",
        "Look the name up in the model, or in the table that --dump_shape=true prints.",
    ),
    "GE2041": ErrorKind(
        "output cannot have this type",
        "Outputs that are tensors of numbers may be given one of the types that ATC lists, each output once.",
        "Write --output_type=FP16 for all outputs, or 'NODE:NUMBER:FP16;...' for some.",
    ),
    "GE2042": ErrorKind(
        "AIPP file is wrong",
        "The file of --insert_op_conf is text of the form aipp_op { key: value ... }, with the keys and values of ATC.",
        "Correct the file at the place that the message names; docs/ge-compiler.md lists the keys.",
    ),
    "GE2043": ErrorKind(
        "AIPP file does not fit the model",
        "The image, after cutting, conversion of colours and a border, must be the input of the model: f32 or f16, of "
        "four fixed dimensions, as --input_format says.",
        "Correct the sizes or the format of the image in the file, or give the shape with --input_shape.",
    ),
    "GE2044": ErrorKind(
        "AIPP file asks for what is not supported",
        "Images are prepared in one way in every run, at the size that they have: dynamic AIPP, resizing, rotation and "
        "raw formats are not there.",
        "Leave the key out, or prepare the image before the run.",
    ),
    "GE2045": ErrorKind(
        "gears are wrong",
        "Gears are numbers for the sizes that are -1 in --input_shape: at most 100, all different and all alike.",
        "Write --dynamic_batch_size=1,2 or --dynamic_image_size='224,224;448,448' or --dynamic_dims='1,64;8,128'.",
    ),
    "GE2046": ErrorKind(
        "shapes that change are not compiled",
        "An OM file of this compiler runs with one shape for each input: one gear, and no ranges of sizes.",
        "Give one shape with --input_shape, and compile a file for each shape that is needed.",
    ),
    "GE2050": ErrorKind(
        "package of an option is not installed",
        "Some options need a package that is not installed with this one, because it is large and few need it.",
        "Install the extra that has it: pip install 'graph-engine[solver]'.",
    ),
    "GE2047": ErrorKind(
        "operator has one implementation",
        "Only some types of operators have an implementation that is exact and one that takes fewer cycles.",
        "Leave the type out of --optypelist_for_implmode; docs/ge-compiler.md lists those with two.",
    ),
}

_IR = {
    "GE3001": ErrorKind(
        "text cannot be parsed",
        "The text is not valid IR: a misspelt operation, a missing type, an undefined value.",
        "Correct the text at the position given.",
    ),
    "GE3002": ErrorKind(
        "operation is not valid",
        "An operation breaks a rule of its definition, such as the type or the number of its operands.",
        "Correct the text, or report the pass that wrote it (--verify-each names it).",
    ),
    "GE3003": ErrorKind(
        "value is used before it is defined",
        "An operand must be defined earlier in the same block, or in a block around the operation.",
        "Move the definition before its first use.",
    ),
    "GE3004": ErrorKind(
        "operation is not allowed at this level",
        "The lowering before this point must leave only the operations of its level.",
        "Add a lowering for the operation, or take the operator out of the model.",
    ),
    "GE3005": ErrorKind(
        "rewriting does not settle",
        "Two rules undo each other, or one rule applies to its own result.",
        "Make the guards of the rule named here exclude its own result.",
    ),
    "GE3006": ErrorKind(
        "weights file is outside the folder of the module",
        "A stage file may only refer to files in its own folder or below, so that opening text from elsewhere cannot "
        "read other files of this machine.",
        "Copy the weights file next to the .mlir file and name it relative to that.",
    ),
    "GE3007": ErrorKind(
        "weights file does not match the text",
        "The file is missing, shorter than the text says, or holds other bytes than when the text was written.",
        "Write the text and its .weights file again, and keep both together.",
    ),
    "GE3008": ErrorKind(
        "weights were left out of the text",
        "The text was printed with --elide-weights: it shows the size of each constant, not its bytes.",
        "Print it again without --elide-weights (or with --inline-weights for one file complete in itself).",
    ),
    "GE3009": ErrorKind(
        "element type has no array form",
        "Constants hold integers, floating-point numbers and complex numbers of the ONNX types.",
        "Use another element type for this constant.",
    ),
    "GE3010": ErrorKind(
        "constant does not match its type",
        "The number of bytes of a constant is its element count times the size of one element.",
        "Correct the type or the bytes of the constant.",
    ),
    "GE3011": ErrorKind(
        "shape is not static",
        "This step needs every dimension as a number.",
        "Fix the dimension, for example with --input-shape.",
    ),
    "GE3012": ErrorKind(
        "pass failed",
        "The pass met a module that it cannot treat.",
        "See the message of the pass; --print-ir-before shows the module that it was given.",
    ),
    "GE3013": ErrorKind(
        "diagnostics differ from what the test expects",
        "With --verify-diagnostics every `expected-error` comment must match one error, and every error one comment.",
        "Correct the comments, or the code that reports.",
    ),
    "GE3014": ErrorKind(
        "pass changes what the module computes",
        "The module ran before and after the pass, on equal inputs; the outputs differ by more than rounding explains.",
        "Report the pass with the module before it (--print-ir-before); ge-bisect finds the single rewrite.",
    ),
    "GE3015": ErrorKind(
        "shapes of an operation contradict each other",
        "What is known of the inputs and attributes of an operation cannot hold together: it fails whenever it runs.",
        "Correct the model, or the shapes given for its inputs, at the operation named here.",
    ),
    "GE3016": ErrorKind(
        "stated type contradicts the inferred one",
        "The model states a type or shape of a value that cannot result from the inputs of the operation.",
        "Take the stated type out of the model and export it again, or give the shapes of the inputs with "
        "--input-shape: then what the model states of results does not count.",
    ),
    "GE3017": ErrorKind(
        "definition of a custom operator fails",
        "The shape function or decomposition that a plug-in gives for the operator raised an error, or gave something "
        "else than shapes or values.",
        "Correct the plug-in; the place is that of the registration.",
    ),
    "GE3018": ErrorKind(
        "passes cannot be judged",
        "With --verify-numerics the module runs on random inputs; it refused all that were drawn, or gave nothing that "
        "could be compared.",
        "Try another --seed, or give shapes that the model takes: --infer-shapes='input-shape=\"x:1,3,224,224\"'.",
    ),
    "GE3020": ErrorKind(
        "rule file cannot be parsed",
        "The text at this position is not what the language of rules allows there.",
        "Correct the text; docs/rules.md has the language on one page.",
    ),
    "GE3021": ErrorKind(
        "rule makes no sense",
        "A rule names something that does not exist, or uses a value where it is not known.",
        "Correct the rule at the position given; docs/rules.md lists functions and conditions.",
    ),
    "GE3022": ErrorKind(
        "rule changes numbers",
        "With --check-rules the model before and after the rule was run on the same inputs; the outputs differ by more "
        "than rounding explains.",
        "Correct the replacement, or add the condition under which it is right.",
    ),
    "GE3023": ErrorKind(
        "rule could not be tried",
        "No model that was made from the pattern of the rule fulfils its conditions.",
        "Add a part 'sample' to the rule that draws the inputs, or correct conditions that contradict each other.",
    ),
    "GE3024": ErrorKind(
        "events of a device program make no sense",
        "Each event is recorded once, and after that waited for once.",
        "Take the streams out and run --assign-streams again.",
    ),
}

_COMPILE: dict[str, ErrorKind] = {
    "GE4001": ErrorKind(
        "operator is unknown",
        "The operators listed are neither of ai.onnx nor of ai.onnx.ml, so nothing says what they compute.",
        "Register the operators in a plug-in and load it with --load-plugin=FILE.py (docs/tutorial-custom-operator.md "
        "shows how), or export the model with ONNX operators only (functions are inlined).",
    ),
    "GE4002": ErrorKind(
        "operation has no kernel and was not moved to the host",
        "Operations that the AI Core has no kernel for run on the host; --assign-precision moves them there.",
        "Run --assign-precision before --propagate-layout.",
    ),
    "GE4003": ErrorKind(
        "model cannot be compiled as it is",
        "The check of --mode=3 found what the report lists; a compilation would stop at the first of them.",
        "Do what the report says of each problem.",
    ),
    "GE4022": ErrorKind(
        "model does not fit into the memory of the device",
        "All weights, and the feature maps that are in use at the same time, lie in the memory of one device.",
        "Take a smaller batch or input, or a SoC with more memory.",
    ),
    "GE4010": ErrorKind(
        "operation has no kernel",
        "The operation was assigned to the AI Core, but no kernel covers its shapes or parameters.",
        "Report the operation: ge.dialects.graph.capabilities should have kept it on the host.",
    ),
    "GE4024": ErrorKind(
        "values take more memory than they may",
        "The values that are live at one moment take more than the workspace_size of --optimization_config.",
        "Take a smaller batch or input, --memory_optimize=high, reuse_memory, or a larger workspace_size.",
    ),
    "GE4023": ErrorKind(
        "memory plan is wrong",
        "A planned device program reads a value that something else has overwritten, or a slot is no legal place.",
        "Plan the memory again with --plan-memory; report the program when the plan came from there.",
    ),
    "GE4025": ErrorKind(
        "two streams use the same memory at the same time",
        "A task reads or writes bytes that a task of another stream writes or reads, and no event orders the two.",
        "Run --assign-streams, and --plan-memory after it; report the program when the plan came from there.",
    ),
    "GE4026": ErrorKind(
        "device program computes something else in streams",
        "A pass that orders tasks, or puts them into streams, has lost, doubled or changed one of them.",
        "Compile with --enable_single_stream=true and --memory_optimize=low, and report the model.",
    ),
    "GE4020": ErrorKind(
        "operation on tiles has no instructions",
        "Where its tiles lie does not suit the instructions of the core: rows that begin or end inside a block of 32 "
        "bytes, or an order that no instruction follows.",
        "Choose tiles whose rows are whole blocks, or load the elements in the shape in which they are used.",
    ),
    "GE4021": ErrorKind(
        "on-chip memory is too small for a kernel",
        "The buffers of a kernel that are in use at the same time do not fit in one of the memories of an AI Core.",
        "Take smaller tiles: halve the largest of the buffers listed, or use stages(1) for the loop that they are in.",
    ),
}

_OM_FILE: dict[str, ErrorKind] = {
    "GE5001": ErrorKind(
        "file is not an OM file",
        "An OM file begins with the bytes IMOD.",
        "Give the .om file that ge-compiler wrote.",
    ),
    "GE5002": ErrorKind(
        "OM file is cut short or has bytes too many",
        "The sizes that the file announces do not add up to its own size, as after an interrupted copy.",
        "Copy the file again, or compile the model again.",
    ),
    "GE5003": ErrorKind(
        "partition table of the OM file is wrong",
        "Partitions are of different types, in the order of the table, with at most 4096 zero bytes in between.",
        "Copy the file again, or compile the model again.",
    ),
    "GE5004": ErrorKind(
        "kind of OM file is not supported",
        "Encrypted, bundle and phone files have other layouts; those of several models (dynamic, flow) do not run.",
        "Compile the model with ge-compiler.",
    ),
    "GE5005": ErrorKind(
        "kernels of the OM file cannot be read",
        "A partition of kernels is a sequence of whole records: magic, name and binary.",
        "Copy the file again, or compile the model again.",
    ),
    "GE5006": ErrorKind(
        "description in the OM file cannot be decoded",
        "The model definition and the tasks are protobuf messages; these bytes are not.",
        "Copy the file again, or compile the model again.",
    ),
    "GE5007": ErrorKind(
        "model definition of the OM file contradicts itself",
        "An operator, a task or an address refers to something that is not in the file.",
        "Copy the file again, or compile the model again.",
    ),
    "GE5008": ErrorKind(
        "OM file comes from another compiler",
        "Only files of ge-compiler hold kernels that this project can read and run.",
        "Compile the model with ge-compiler.",
    ),
    "GE5009": ErrorKind(
        "module cannot be written as an OM file",
        "An OM file is written from one om.model, which --convert-program-to-om makes of a planned device program.",
        "Run the passes up to --plan-memory and --convert-program-to-om first.",
    ),
    "GE5010": ErrorKind(
        "weights file of the model cannot be read",
        "A model compiled with --external_weight=1 has its weights in a file beside the OM file, which names it.",
        "Put the weights file into the folder of the OM file, under the name that it had.",
    ),
    "GE5011": ErrorKind(
        "weights file is not that of the model",
        "Its size or its SHA-256 is not the one that the OM file says: it is damaged, cut short, or of another model.",
        "Copy the weights file again, or compile the model again.",
    ),
    "GE5012": ErrorKind(
        "streams of the OM file wait for each other",
        "Each stream waits for an event that another one records only after what it waits for itself.",
        "Compile the model again.",
    ),
    "GE5013": ErrorKind(
        "streams of the OM file use the same memory at the same time",
        "A task writes bytes that a task of another stream reads or writes, and no event orders the two.",
        "Compile the model again.",
    ),
    "GE5020": ErrorKind(
        "binary is not an encoded kernel",
        "An encoded kernel begins with the bytes GECK and a version that this release reads.",
        "Compile the model again with this release.",
    ),
    "GE5021": ErrorKind(
        "encoded kernel is malformed",
        "The instruction stream names registers, operations or values that it cannot have, or ends too early.",
        "Copy the file again, or compile the model again.",
    ),
    "GE5022": ErrorKind(
        "kernel cannot be encoded",
        "Only a planned kernel has a binary: every cube.alloc has an address.",
        "Run --plan-buffers first.",
    ),
}

_RUN_TIME: dict[str, ErrorKind] = {
    "GE6001": ErrorKind(
        "device is not available",
        "OM files run on the simulated chip that they were compiled for; another one has other instructions.",
        "Leave the device out, name npu, or compile the model for this chip with --soc_version.",
    ),
    "GE6002": ErrorKind(
        "input is missing",
        "Every input of the model needs a value.",
        "Give an array for each input; Model.inputs lists them.",
    ),
    "GE6003": ErrorKind(
        "input is unknown",
        "The model has no input of this name, or fewer inputs than were given.",
        "Use the names that Model.inputs lists.",
    ),
    "GE6004": ErrorKind(
        "input has the wrong shape",
        "The shapes of a compiled model are fixed.",
        "Reshape the input, or compile the model for this shape with --input_shape.",
    ),
    "GE6005": ErrorKind(
        "input has the wrong element type",
        "Inputs keep the element type that they have in the model; nothing is converted silently.",
        "Convert the array with its astype method.",
    ),
    "GE6006": ErrorKind(
        "operator failed",
        "An operator that runs as ONNX defines it (at the onnx level, or on the host) refused the values it was given.",
        "Check the inputs; ge-run on the .onnx model shows whether the model itself fails.",
    ),
    "GE6007": ErrorKind(
        "file of input values cannot be used",
        "Inputs come from .npy and .npz files and from .pb files that hold one ONNX tensor.",
        "Write the array with numpy.save.",
    ),
    "GE6008": ErrorKind(
        "results differ from the reference",
        "The outputs are further from those of the reference model than its element type explains.",
        "Run the stage files of ge-compiler --debug=DIR one after the other with ge-run to find where they part.",
    ),
    "GE6009": ErrorKind(
        "memory is not enough",
        "The memory of the device is held in the memory of this machine.",
        "Compile the model for a smaller batch, or use a machine with more memory.",
    ),
    "GE6010": ErrorKind(
        "custom operator computes something else than its definition says",
        "What the plug-in computes has another type, shape or number of results than its signature and shape function "
        "say.",
        "Correct the plug-in; the place is that of the registration.",
    ),
    "GE6011": ErrorKind(
        "operator has no meaning",
        "The operator is of a domain that neither the ONNX standard nor a plug-in of this run defines.",
        "Load the plug-in that defines it with --load-plugin=FILE.py, or install its package.",
    ),
    "GE6012": ErrorKind(
        "no operator has this name",
        "Values inside a model are chosen by the names of its nodes or operators, or by patterns of them.",
        'Write a name or a pattern such as "/layer1/*"; ge-run --dump=all writes every value under its name.',
    ),
    "GE6020": ErrorKind(
        "kernel stopped",
        "An instruction reached outside memory, or scalar code divided by zero or has a loop without end.",
        "Run it with strict=True, which names the instruction; then look at the pass that wrote it.",
    ),
    "GE6021": ErrorKind(
        "address is outside its buffer",
        "An instruction touches bytes past the buffer, the memory or the argument that it addresses.",
        "Correct the sizes and offsets in the lowering, or enlarge the buffer.",
    ),
    "GE6022": ErrorKind(
        "address is not aligned",
        "Each memory takes addresses that are multiples of its alignment (SoC file).",
        "Correct the offset in the lowering.",
    ),
    "GE6023": ErrorKind(
        "instruction does not exist on this SoC",
        "The SoC file lists the paths between memories and the vector instructions that it lacks.",
        "Choose another SoC, or another sequence of instructions in the lowering.",
    ),
    "GE6024": ErrorKind(
        "uninitialised bytes are read",
        "An instruction computes with bytes that nothing has written since the kernel began.",
        "Write them first (vector_dup), or do not read them.",
    ),
    "GE6025": ErrorKind(
        "instructions of one core race",
        "Two instructions touch the same bytes, one of them writes, and neither flag nor barrier orders them.",
        "Run --insert-sync on the kernel, or correct the flags.",
    ),
    "GE6026": ErrorKind(
        "flag is set twice",
        "A flag is raised again before anything waited for it; on hardware that is undefined.",
        "Pair each set_flag with one wait_flag.",
    ),
    "GE6027": ErrorKind(
        "flags do not pair up",
        "A wait_flag has no set_flag before it, so the core would hang; or a flag stays raised at the end.",
        "Pair each set_flag with one wait_flag, also around loops.",
    ),
    "GE6028": ErrorKind(
        "cores conflict in global memory",
        "Two cores of one launch touch the same bytes and at least one of them writes; nothing orders cores.",
        "Deal tiles to cores so that each byte has one writer and no other reader.",
    ),
    "GE6029": ErrorKind(
        "field has a value out of range",
        "A field computed at run time has a value that the instruction cannot encode.",
        "Bound the value in the lowering.",
    ),
    "GE6030": ErrorKind(
        "output is not written",
        "A kernel ended without writing every byte of an output.",
        "Check the loop bounds and the store of the last tile.",
    ),
}

_INTERNAL: dict[str, ErrorKind] = {
    "GE9001": ErrorKind(
        "internal error",
        "The program met something that it does not foresee: a fault of the program, also where the file is damaged.",
        "Report this with the file that shows it; --debug shows the traceback.",
    ),
}

ERRORS: dict[str, ErrorKind] = {**_INPUT, **_OPTIONS, **_IR, **_COMPILE, **_OM_FILE, **_RUN_TIME, **_INTERNAL}
"""Every code with its meaning: the one table behind the messages and docs/errors.md."""


class GeError(Exception):
    """An error that a user can cause and mend. ``why`` and ``remedy`` default to what :data:`ERRORS` says of the code.

    ``what`` is one line (see :func:`one_line`). ``where`` names a model node, an operation or a position
    ``file:line:column``.
    """

    def __init__(
        self, code: str, what: str, where: str | None = None, why: str | None = None, remedy: str | None = None
    ) -> None:
        kind = ERRORS[code]
        self.code = code
        self.what = one_line(what)
        self.where = None if where is None else one_line(where)
        super().__init__(self.what)
        self.why = kind.cause if why is None else why
        self.remedy = kind.remedy if remedy is None else remedy

    def __str__(self) -> str:
        lines = [f"error[{self.code}]: {self.what}"]
        if self.where is not None:
            lines.append(f"  at: {self.where}")
        lines += [f"  why: {self.why}", f"  fix: {self.remedy}"]
        return "\n".join(lines)


def internal_error(error: Exception, during: str = "", where: str | None = None) -> GeError:
    """The error GE9001 for an exception that only a fault of ours raises, ``during`` something. Raise it from that."""
    prefix = f"{during}: " if during else ""
    return GeError("GE9001", f"{prefix}internal error: {type(error).__name__}: {error}", where)


_LONGEST = 1000
"""Characters of a message that are shown: names in a damaged file may be longer than anyone wants to read."""


def one_line(text: str) -> str:
    """A text that is shown as one line: names and foreign messages in it may hold line breaks and control characters.

    Line breaks become spaces, other characters that cannot be printed their escapes, and what is too long is cut in the
    middle.
    """
    text = " ".join(filter(None, map(str.strip, text.splitlines())))
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST * 3 // 4]} ... {text[-_LONGEST // 4 :]}"
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def errors_table() -> str:
    """The text of docs/errors.md: one row per error code."""
    rows = [f"| {code} | {kind.title} | {kind.cause} | {kind.remedy} |" for code, kind in sorted(ERRORS.items())]
    return "\n".join(
        [
            "# Error codes",
            "",
            "Every error names its code, what happened, where, why, and what to do. This page is generated by",
            "`python -m ge.ir.errors > docs/errors.md`.",
            "",
            "| code | error | usual cause | what to do |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


if __name__ == "__main__":
    print(errors_table(), end="")
