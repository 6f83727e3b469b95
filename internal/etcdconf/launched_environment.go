// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// behind returns what known returns for a program behind launchers.
func (e *environment) behind(launched script.Environment) func(name string) (string, bool, error) {
	return func(name string) (string, bool, error) {
		if launched.Passes(name) {
			return e.known(name)
		}
		value, ok := launched.Lookup(name, e.lookup)
		if ok || launched.Resets == "" {
			return value, ok, nil
		}
		e.unknown[name] = fmt.Errorf("what %s gives to etcd is only known in the pod", launched.Resets)
		return "", false, e.unknown[name]
	}
}
