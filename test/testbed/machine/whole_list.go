// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"errors"
	"time"

	"github.com/vishvananda/netlink"
)

// WholeList lists the host's links, routes or neighbours. It lists again where the kernel reports
// that they changed while it listed them: other testbeds start and end at the same time.
func WholeList[T any](list func() ([]T, error)) ([]T, error) {
	var all []T
	var err error
	for range 100 {
		if all, err = list(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			return all, err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, err
}
