// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// CheckTools returns an error if a step needs a program that this machine doesn't have, or a person.
// Nothing has been changed by then.
func (r Plan) CheckTools(ctx context.Context, steps []step.Step) error {
	for _, s := range steps {
		for _, act := range s.Acts {
			switch act := act.(type) {
			case step.ByHand:
				if r.File == "" { // it is an undoing
					return r.refuse("step %q can only be done by a person: %s", s.Title, act.Text)
				}
				return r.refuse("step %q can only be done by a person: print all steps with %s, and type them", s.Title, r.plugin("snapshot restore-plan %s %s", format.Quote(r.File), r.Target()))
			case step.Program:
				if err := r.checkTool(ctx, act.Lines[0][0]); err != nil {
					return err
				}
			case step.RemoveObject:
				if err := r.checkTool(ctx, act.Remove[0]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

var toolVersion = regexp.MustCompile(`(?m)^etcd(?:utl|ctl) version: (\S+)`)

// checkTool returns an error if a program is missing, or if it is a tool of etcd of another minor release
// than the members.
func (r Plan) checkTool(ctx context.Context, program string) error {
	path, err := exec.LookPath(program)
	if err != nil && program != r.tool().Lines[0][0] {
		return r.refuse("program %s, which reaches the backup store, is not on this machine; install it, and give it your permissions for that store", program)
	}
	if err != nil {
		return r.refuse("program %s is not on this machine; install it, or name it with --tool: it takes %s", program, r.toolNote())
	}
	if program != r.tool().Lines[0][0] || etcd.Release(r.Etcd).Minor() == 0 {
		return nil
	}
	out, err := exec.CommandContext(ctx, path, "version").Output() //nolint:gosec // a plan names the tools of etcd only
	if err != nil {
		return fmt.Errorf("run %s version: %w", path, err)
	}
	found := toolVersion.FindSubmatch(out)
	if found == nil {
		return r.refuse("%s doesn't show its version; it takes %s", path, r.toolNote())
	}
	if have := string(found[1]); etcd.Release(have).Minor() != etcd.Release(r.Etcd).Minor() {
		return r.refuse("%s is of etcd %s, and the members run %s; name another program with --tool: it takes %s", path, have, r.Etcd, r.toolNote())
	}
	return nil
}
