// RUN: ge-opt %s --verify-diagnostics --split-input-file

// expected-error@+1 {{one NetOutput must have 1 operands, got []}}
om.model @no_output soc "Ascend310P3" memory 0 io 0 outputs ["y"] {
  %x = om.op "Const" "x"() at [0] : () -> tensor<2xf32>
}

// -----

// expected-error@+1 {{two operators have the name 'x'}}
om.model @same_name soc "Ascend310P3" memory 0 io 0 outputs [] {
  %x = om.op "Const" "x"() at [0] : () -> tensor<2xf32>
  om.op "NetOutput" "x"() : () -> ()
}

// -----

// expected-error@+1 {{the attribute 'index' of the Data operators must count from 0}}
om.model @index soc "Ascend310P3" memory 0 io 0 outputs [] {
  %x = om.op "Data" "x"() at [0] {index = 1 : i64} : () -> tensor<2xf32>
  om.op "NetOutput" "end"() : () -> ()
}

// -----

// expected-error@+1 {{a task is for operator 'nobody', which is not in the model}}
om.model @task_operator soc "Ascend310P3" memory 0 io 0 outputs [] {
  om.op "NetOutput" "end"() : () -> ()
  om.task @k for "nobody" blocks 1
}

// -----

// expected-error@+1 {{a task runs kernel @k, which is not in the model}}
om.model @task_kernel soc "Ascend310P3" memory 0 io 0 outputs [] {
  om.op "NetOutput" "end"() : () -> ()
  om.task @k for "end" blocks 1
}

// -----

om.model @offsets soc "Ascend310P3" memory 0 io 0 outputs [] {
  // expected-error@+1 {{1 results need as many offsets, got 0}}
  %x = om.op "Const" "x"() : () -> tensor<2xf32>
  om.op "NetOutput" "end"() : () -> ()
}

// -----

om.model @attribute soc "Ascend310P3" memory 0 io 0 outputs [] {
  // expected-error@+1 {{an OM file cannot hold attribute 'a' = 1 : i8}}
  om.op "NetOutput" "end"() {a = 1 : i8} : () -> ()
}

// -----

om.model @kernel soc "Ascend310P3" memory 0 io 0 outputs [] {
  // expected-error@+1 {{a kernel holds one cube.kernel or one func.func, got ['builtin.module']}}
  om.kernel @k {
    builtin.module {
    }
  }
  om.op "NetOutput" "end"() : () -> ()
}

// -----

// expected-error@+1 {{inputs and outputs of 8 bytes are no part of a memory of 4 bytes}}
om.model @sizes soc "Ascend310P3" memory 4 io 8 outputs [] {
  om.op "NetOutput" "end"() : () -> ()
}

// -----

om.model @negative_offset soc "Ascend310P3" memory 0 io 0 outputs [] {
  // expected-error@+1 {{an offset is negative: [-2]}}
  %x = om.op "Const" "x"() at [-2] : () -> tensor<2xf32>
  om.op "NetOutput" "end"() : () -> ()
}

// -----

om.model @blocks soc "Ascend310P3" memory 0 io 0 outputs [] {
  om.op "NetOutput" "end"() : () -> ()
  // expected-error@+1 {{a kernel runs on 1 to 65535 AI Cores, not on 65536}}
  om.task @k for "end" blocks 65536
}

// -----

om.model @stream soc "Ascend310P3" memory 0 io 0 outputs [] {
  om.op "NetOutput" "end"() : () -> ()
  // expected-error@+1 {{streams have numbers from 0 to 63, not 64}}
  om.record event 0 stream 64
  om.wait event 0 stream 0
}

// -----

om.model @event soc "Ascend310P3" memory 0 io 0 outputs [] {
  om.op "NetOutput" "end"() : () -> ()
  // expected-error@+1 {{events have numbers from 0 to 65535, not -1}}
  om.record event -1 stream 0
}

// -----

// expected-error@+1 {{event 0 is waited for, but nothing records it}}
om.model @no_record soc "Ascend310P3" memory 0 io 0 outputs [] {
  om.op "NetOutput" "end"() : () -> ()
  om.wait event 0 stream 0
}

// -----

om.file {} {
  // expected-error@+1 {{'TASK_INFO' is here 2 times}}
  om.container {
    om.partition "TASK_INFO" #om.message<>
    om.partition "TASK_INFO" #om.message<>
  }
}

// -----

om.file {} {
  om.container {
    // expected-error@+1 {{'k' is here 2 times}}
    om.kernel_store "TBE_KERNELS" {
      om.binary "k" <"0x00">
      om.binary "k" <"0x00">
    }
  }
}

// -----

// expected-error@+1 {{om.partition cannot be here}}
om.file {} {
  om.partition "TASK_INFO" #om.message<>
}

// -----

om.model @graph soc "Ascend310P3" memory 0 io 0 outputs [] {
  // expected-error@+1 {{a graph is one func.func, got ['builtin.module']}}
  om.graph {
    builtin.module {
    }
  }
  om.op "NetOutput" "end"() : () -> ()
}

// -----

om.file {} {
  om.container {
    // expected-error@+1 {{4097 bytes align nothing: 1 to 4096 may}}
    om.partition "TASK_INFO" gap 4097 #om.message<>
  }
}

// -----

om.file {} {
  // expected-error@+1 {{0 bytes align nothing: 1 to 4096 may}}
  om.container tail 0 {
    om.partition "TASK_INFO" #om.message<>
  }
}
