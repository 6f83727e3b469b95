// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

// MaxWork is the bound of Done.
const MaxWork = maxWork

// Done returns what has been done with a script.
func (s *Script) Done() int { return s.work.done }
