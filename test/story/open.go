// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"io"

	"github.com/kubectl-etcd/kubectl-etcd/test/install"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// Open returns a world on a running testbed. It prints with the printer and logs to out.
func Open(tb *testbed.Testbed, printer *Printer, out io.Writer) (*World, error) {
	c, err := install.Client(tb)
	if err != nil {
		return nil, fmt.Errorf("connect to testbed %s: %w", tb.Name(), err)
	}
	return &World{Printer: printer, Testbed: tb, Client: c, Log: out}, nil
}
