// RUN: ge-opt %s --assign-streams --split-input-file --verify-diagnostics

// An event that nothing records.
func.func @main() {
  // expected-error @+1 {{event 0 is waited for, but nothing before records it}}
  graph.wait event 0 stream 1
  func.return
}

// -----

// A wait in front of its record: the program is a list of what happens, in a possible order.
func.func @main() {
  // expected-error @+1 {{event 0 is waited for, but nothing before records it}}
  graph.wait event 0 stream 1
  graph.record event 0 stream 0
  func.return
}

// -----

func.func @main() {
  graph.record event 0 stream 0
  // expected-error @+1 {{event 0 is recorded twice}}
  graph.record event 0 stream 0
  graph.wait event 0 stream 1
  func.return
}

// -----

func.func @main() {
  graph.record event 0 stream 0
  graph.wait event 0 stream 1
  // expected-error @+1 {{event 0 is waited for twice}}
  graph.wait event 0 stream 2
  func.return
}

// -----

func.func @main() {
  // expected-error @+1 {{event 7 is recorded, but nothing waits for it}}
  graph.record event 7 stream 0
  func.return
}
