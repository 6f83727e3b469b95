// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import "github.com/kubectl-etcd/kubectl-etcd/internal/observe"

// Asking returns the answers of members for reconcilers of other rules, of those clusters whose policy allows to ask
// them. reader reads the policies.
func Asking(h MemberHealth, reader *observe.Reader) observe.Health { return asking{h, reader} }
