// A plug-in file brings a dialect and a pass.
// RUN: ge-opt --load-plugin=%S/ge_toy/ge_toy.py %s | filecheck %s --check-prefix=TOY
// RUN: ge-opt --load-plugin %S/ge_toy/ge_toy.py %s --toy-expand-square | filecheck %s
// RUN: ge-opt --load-plugin=%S/ge_toy/ge_toy.py %s --toy-expand-square='limit=1' | filecheck %s --check-prefix=ONE
// RUN: ge-opt --load-plugin=%S/ge_toy/ge_toy.py --list-passes | filecheck %s --check-prefix=LIST
// RUN: not ge-opt %s 2>&1 | filecheck %s --check-prefix=WITHOUT
// RUN: not ge-opt --load-plugin=%S/nothing.py %s 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: not ge-opt --load-plugin=%S/inputs/clash.py %s 2>&1 | filecheck %s --check-prefix=CLASH

// TOY:      %y = toy.square %x : i32 -> i32 loc("sq")
// CHECK:      %y = arith.muli %x, %x : i32 loc("sq")
// CHECK-NEXT: %z = arith.muli %y, %y : i32
// ONE:      %y = arith.muli %x, %x : i32 loc("sq")
// ONE-NEXT: %z = toy.square %y : i32 -> i32
// LIST:      --toy-expand-square
// LIST-NEXT: Replace toy.square by a multiplication, at most ``limit`` times.
// LIST-NEXT: limit : int | None = None
// WITHOUT: load_plugin.mlir:{{[0-9]+}}:3: error: operation 'toy.square' is not registered [GE3001]
// MISSING: nothing.py: error: plug-in '{{.*}}nothing.py': no such file [GE2005]
// CLASH: error: pass 'cse' is registered already [GE2005]
func.func @main(%x: i32) -> i32 {
  %y = toy.square %x : i32 -> i32 loc("sq")
  %z = toy.square %y : i32 -> i32
  func.return %z : i32
}
