"""The commands: ge-opt, ge-translate, ge-run and ge-compiler."""
