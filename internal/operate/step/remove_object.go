// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// RemoveObject removes an object from a store, with a tool on this machine. Tools of some stores fail for an object that is
// not there, which is no error here. It shows in what List prints, and not in an exit code: that is the same for a store that
// can't be read.
type RemoveObject struct {
	Name         string
	Remove, List []string
}

// Command implements Action.
func (r RemoveObject) Command(Flags) string {
	return fmt.Sprintf("%s || { left=$(%s) && [[ $left != *%s* ]]; }", quoted(r.Remove), quoted(r.List), format.Quote(r.Name))
}

// Do implements Action.
func (r RemoveObject) Do(ctx context.Context, c Clients) error {
	err := c.Run(ctx, nil, r.Remove)
	if err == nil {
		return nil
	}
	left, unread := c.Output(ctx, r.List)
	switch {
	case unread != nil:
		return fmt.Errorf("remove %s: %w; it is not known whether it is there: %w", r.Name, err, unread)
	case strings.Contains(left, r.Name):
		return fmt.Errorf("remove %s: %w", r.Name, err)
	}
	return nil
}
