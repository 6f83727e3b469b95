// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdlog

import (
	"fmt"
	"strings"
	"testing"
)

// goStacks returns stacks as Go prints them, of which the first has the functions.
func goStacks(goroutines int, first ...string) string {
	var text strings.Builder
	for i := range goroutines {
		fmt.Fprintf(&text, "\ngoroutine %d gp=0xc000006700 m=0 mp=0x1f0a4c0 [running]:\n", i+1)
		if i > 0 {
			first = []string{"runtime.gopark(0xc0001, 0x0)", "go.etcd.io/raft/v3.(*node).run(0xc000)", "created by go.etcd.io/raft/v3.StartNode in goroutine 1"}
		}
		for _, function := range first {
			text.WriteString(function + "\n\t/go/src/file.go:120 +0x5d\n")
		}
	}
	return text.String()
}

// crashRows are ends of logs of etcd.
var crashRows = []struct {
	row, text string
	want      string // the fatal message, empty for none
	last      string
}{
	{
		"a database file that was truncated, with the stacks of all goroutines", `{"level":"info","msg":"starting"}` + "\nunexpected fault address 0x7f5c4c1f8000\nfatal error: fault\n" +
			"[signal SIGBUS: bus error code=0x2 addr=0x7f5c4c1f8000 pc=0x8d4a2b]\n" + goStacks(200, "runtime.throw({0x1288b5d?, 0x0?})", "runtime.sigpanic()", "go.etcd.io/bbolt.(*Bucket).pageNode(...)", "main.main()"),
		"SIGBUS: bus error", "fatal error: fault",
	},
	{
		"a page that etcd itself reads", "unexpected fault address 0x7f5c4c1f8000\nfatal error: fault\n[signal SIGBUS: bus error code=0x2 addr=0x7f pc=0x8d]\n" +
			goStacks(2, "runtime.memmove()", "go.etcd.io/etcd/api/v3/mvccpb.(*KeyValue).Unmarshal(0xc0)", "go.etcd.io/bbolt.(*Tx).ForEach(0x0)"), "SIGBUS: bus error", "fatal error: fault",
	},
	{"a signal in no goroutine of Go", "SIGBUS: bus error\nPC=0x471c21 m=0 sigcode=2 addr=0x7f5c\n" + goStacks(1, "runtime.memmove()"), "SIGBUS: bus error", "SIGBUS: bus error"},
	{
		"SIGSEGV in bbolt", "unexpected fault address 0xc0ffee\nfatal error: fault\n[signal SIGSEGV: segmentation violation code=0x1 addr=0xc0ffee pc=0x8d]\n" +
			goStacks(60, "runtime.throw({0x1, 0x5})", "encoding/binary.Uvarint(...)", "go.etcd.io/bbolt/internal/freelist.(*shared).Read(0x0)", "main.main()"), "SIGSEGV: segmentation violation", "fatal error: fault",
	},
	{
		"SIGSEGV in bbolt by its old path, vendored", "unexpected fault address 0xc0ffee\nfatal error: fault\n[signal SIGSEGV: segmentation violation code=0x1 addr=0xc0ffee pc=0x8d]\n" +
			goStacks(1, "panic({0x1, 0x5})", "go.etcd.io/etcd/vendor/github.com/coreos/bbolt.(*Cursor).search(0x0)"), "SIGSEGV: segmentation violation", "fatal error: fault",
	},
	{
		"a closed database, which etcd reads while it stops", "panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x8d]\n" +
			goStacks(1, "panic({0x1, 0x5})", "go.etcd.io/bbolt.(*Tx).Bucket(0x0)"), "", "panic: runtime error: invalid memory address or nil pointer dereference",
	},
	{"an error of the machine's memory", "unexpected fault address 0xc0ffee\nfatal error: fault\n[signal SIGBUS: bus error code=0x4 addr=0xc0ffee pc=0x2]\n" + goStacks(2, "runtime.gcDrain(0x0)"), "", "fatal error: fault"},
	{"the same, in no goroutine of Go", "SIGBUS: bus error\nPC=0x471c21 m=0 sigcode=4 addr=0x2\n" + goStacks(1, "runtime.memmove()"), "", "SIGBUS: bus error"},
	{
		"SIGSEGV in a function that bbolt calls", "panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x8 pc=0x8d]\n" +
			goStacks(50, "panic({0x1, 0x5})", "go.etcd.io/etcd/server/v3/mvcc.restore(0x0)", "go.etcd.io/bbolt.(*Tx).ForEach(0x0)"), "", "panic: runtime error: invalid memory address or nil pointer dereference",
	},
	{"another panic, with long stacks", "panic: assignment to entry in nil map\n" + goStacks(50, "go.etcd.io/bbolt.(*DB).Update(0x0)"), "", "panic: assignment to entry in nil map"},
	{"another fatal error", `{"level":"error","error":"crc mismatch"}` + "\nfatal error: concurrent map writes\n" + goStacks(50, "main.main()"), "", "fatal error: concurrent map writes"},
	{"a panic of bbolt, with long stacks", "panic: freepages: failed to get all reachable pages (page 2: multiple references)\n" + goStacks(50, "go.etcd.io/bbolt.(*DB).freepages.func2()"), "freepages: failed to get all reachable pages (page 2: multiple references)", "panic: freepages: failed to get all reachable pages (page 2: multiple references)"},
	{"a message of etcd's logger, with long stacks", `{"level":"panic","msg":"failed to recover v3 backend from snapshot"}` + "\npanic: failed to recover v3 backend from snapshot\n" + goStacks(50, "go.uber.org/zap.(*Logger).Panic(0x0)"), "failed to recover v3 backend from snapshot", "panic: failed to recover v3 backend from snapshot"},
	{"etcd runs again after it", "fatal error: fault\n[signal SIGBUS: bus error code=0x2 addr=0x7f pc=0x8d]\n" + goStacks(1, "main.main()") + `{"level":"info","msg":"starting"}`, "", "info: starting"},
	{"a message that only has the word", `{"level":"fatal","msg":"signal SIGBUS: bus error"}`, "", "fatal: signal SIGBUS: bus error"},
}

// TestEndOfCrash: a crash that etcd dies of while it reads its database is a sign of a damaged file, however long the
// stacks after it are.
func TestEndOfCrash(t *testing.T) {
	t.Parallel()
	for _, row := range crashRows {
		got := endOf(row.text)
		if got.Fatal != row.want || got.Last != row.last {
			t.Errorf("%s: %+v, want %q and %q", row.row, got, row.want, row.last)
		}
		isFault := strings.HasPrefix(row.want, "SIG")
		if strings.Contains(got.Evidence(), "I/O errors or is full") != isFault {
			t.Errorf("%s: the evidence is %q", row.row, got.Evidence())
		}
	}
}

// TestBeginsInStack: what is read of a long crash at first has no message, and all of it has.
func TestBeginsInStack(t *testing.T) {
	t.Parallel()
	text := crashRows[0].text
	lines := strings.Split(text, "\n")
	for from, want := range map[int]bool{0: false, 1: false, len(lines) - 60: true, len(lines) - 5: true} {
		if got := BeginsInStack(strings.Join(lines[from:], "\n")); got != want {
			t.Errorf("from line %d: %t", from, got)
		}
	}
	if BeginsInStack(`{"level":"info","msg":"ready"}` + "\n") {
		t.Error("a log without a crash")
	}
}
