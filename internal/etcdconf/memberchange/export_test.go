// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberchange

// MostDirs is how many folders of data are known.
const MostDirs = mostDirs
