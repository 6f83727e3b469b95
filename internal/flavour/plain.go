// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

// Plain clusters are StatefulSets of no known product.
const Plain Name = "plain"

var plain = Product{Name: Plain, Membership: Membership{Manager: Unmanaged}}
