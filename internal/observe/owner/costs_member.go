// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import "fmt"

// CostsMember returns a command by which each pod that stops costs etcd a member or its data, as text: it runs before the
// pod stops, and nothing adds the member again. It is empty for none.
func (o Owner) CostsMember() string {
	for _, m := range o.MemberChanges {
		if m.AtStop() && !m.AddedAgain(o.MemberChanges) {
			return fmt.Sprintf("%s has %s, and nothing adds the member again: remove that command first", m.Where(), m.Command())
		}
	}
	return ""
}
