// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"errors"
	"testing"

	"github.com/vishvananda/netlink"
)

func TestWholeList(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		answers []error // the last one is repeated
		want    error
		asked   int
	}{
		"whole":                {[]error{nil}, nil, 1},
		"changed meanwhile":    {[]error{netlink.ErrDumpInterrupted, netlink.ErrDumpInterrupted, nil}, nil, 3},
		"another error":        {[]error{broken}, broken, 1},
		"changes all the time": {[]error{netlink.ErrDumpInterrupted}, netlink.ErrDumpInterrupted, 100},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			all, err := WholeList(func() ([]int, error) {
				asked++
				return []int{asked}, c.answers[min(asked, len(c.answers))-1]
			})
			if !errors.Is(err, c.want) || asked != c.asked || err == nil && all[0] != asked {
				t.Errorf("%v, %v after %d lists", all, err, asked)
			}
		})
	}
}
