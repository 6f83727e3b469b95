// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"fmt"
	"io"
	"time"
)

// steps prints what is being done and how long each part took.
type steps struct {
	log io.Writer
	now func() time.Time
}

func newSteps(log io.Writer) steps {
	return steps{log, time.Now} //nolint:forbidigo // for the person who waits
}

// do runs a step and prints when it is done. It prints nothing for one that fails:
// the error reports it.
func (s steps) do(what string, step func() error) error {
	begin := s.now()
	if err := step(); err != nil {
		return err
	}
	fmt.Fprintf(s.log, "%-44s %5.1fs\n", what, s.now().Sub(begin).Seconds())
	return nil
}
