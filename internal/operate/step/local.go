// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// Program runs a program on this machine. The lines are its name and arguments, as they
// are printed.
type Program struct {
	Env   []string
	Lines [][]string
}

// Command implements Action.
func (p Program) Command(Flags) string {
	lines := make([]string, len(p.Lines))
	for i, line := range p.Lines {
		lines[i] = quoted(line)
	}
	parts := make([]string, 0, len(p.Env)+1)
	for _, variable := range p.Env {
		parts = append(parts, format.Quote(variable))
	}
	return strings.Join(append(parts, strings.Join(lines, " \\\n  ")), " ")
}

// Do implements Action.
func (p Program) Do(ctx context.Context, c Clients) error {
	return c.Run(ctx, p.Env, slices.Concat(p.Lines...))
}

// Plugin runs a command of kubectl etcd on the cluster.
type Plugin struct{ Args []string }

// Command implements Action.
func (p Plugin) Command(f Flags) string { return f.Plugin("%s", quoted(p.Args)) }

// Do implements Action.
func (p Plugin) Do(ctx context.Context, c Clients) error { return c.Plugin(ctx, p.Args) }

// CheckSnapshot checks a snapshot file. It fails if SHA256 is not the hash of its database: the file was replaced
// since the plan was made. The zero value is any hash.
type CheckSnapshot struct {
	File   string
	SHA256 [sha256.Size]byte
}

// Command implements Action. No cluster is needed for it.
func (s CheckSnapshot) Command(Flags) string {
	return "kubectl etcd snapshot status " + format.Quote(s.File)
}

// Do implements Action.
func (s CheckSnapshot) Do(ctx context.Context, _ Clients) error {
	have, err := snapshot.Inspect(ctx, s.File)
	if err == nil && s.SHA256 != [sha256.Size]byte{} && s.SHA256 != have.SHA256 {
		err = operate.Halt("%s was replaced since the plan was made: it has SHA-256 %x, and the snapshot of the plan %x", s.File, have.SHA256, s.SHA256)
	}
	return err
}

// RemoveDir removes a directory of this machine with all that is in it.
type RemoveDir struct{ Dir string }

// Command implements Action.
func (r RemoveDir) Command(Flags) string { return "rm -rf " + format.Quote(r.Dir) }

// Do implements Action.
func (r RemoveDir) Do(context.Context, Clients) error { return os.RemoveAll(r.Dir) }

// WriteFile writes a file of this machine, with a line of text.
type WriteFile struct{ File, Text string }

// Command implements Action.
func (w WriteFile) Command(Flags) string {
	return "echo " + format.Quote(w.Text) + " > " + format.Quote(w.File)
}

// Do implements Action.
func (w WriteFile) Do(context.Context, Clients) error {
	return os.WriteFile(w.File, []byte(w.Text+"\n"), 0o600)
}

// ByHand is for a person alone. A plan that has it can't be executed.
type ByHand struct{ Text string }

// Command implements Action.
func (b ByHand) Command(Flags) string { return b.Text }

// Do implements Action. It always fails.
func (b ByHand) Do(context.Context, Clients) error {
	return errors.New("this step is for a person: " + b.Text)
}
