// RUN: ge-opt %s --verify-diagnostics --split-input-file

"test.op"() : () -> () // fine

// -----

func.func @undefined() {
  // expected-error @+1 {{value %0 is used but not defined}}
  func.return %0 : i32
}

// -----

func.func @early(%x: i32) {
  // expected-error @+1 {{operand #0 is used before it is defined}}
  %1 = arith.addi %0, %x : i32
  %0 = arith.addi %x, %x : i32
  func.return
}

// -----

"test.op"() {a = #ge.layout<NCDHW>} : () -> () // expected-error {{unknown storage format 'NCDHW'}}
