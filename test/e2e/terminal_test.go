// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal is a running plugin on a terminal. stdout has everything that the terminal received,
// and stderr is empty.
type terminal struct {
	*running

	keys *os.File
}

// startOnTerminal is startPlugin on a terminal with this many rows.
func startOnTerminal(t *testing.T, rows uint16, args ...string) terminal {
	t.Helper()
	keys, screen := openTerminal(t)
	r := terminal{running: &running{cmd: pluginCommand(t, args...)}, keys: keys}
	r.resize(t, rows)
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = screen, screen, screen
	// The plugin has its own session, so that Ctrl-C is sent to it.
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err := r.cmd.Start()
	_ = screen.Close() // the plugin has its own copy
	if err != nil {
		t.Fatal(err)
	}
	r.started()
	go func() { _, _ = io.Copy(&r.stdout, keys) }() // until the terminal is closed
	return r
}

// openTerminal opens a pseudo-terminal of Linux. What is written to one end can be read from the
// other end.
func openTerminal(t *testing.T) (keys, screen *os.File) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keys.Close() })
	if err := unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return keys, screen
}

func (r terminal) resize(t *testing.T, rows uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(r.keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: 160}); err != nil {
		t.Fatal(err)
	}
}

// types presses keys.
func (r terminal) types(t *testing.T, text string) {
	t.Helper()
	if _, err := r.keys.WriteString(text); err != nil {
		t.Fatal(err)
	}
}
