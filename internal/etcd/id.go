// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import "fmt"

// HexID returns an ID as this project writes them.
func HexID(id uint64) string { return fmt.Sprintf("%016x", id) }

// FormatID returns an ID of etcd's as etcdctl has it, filled up to 16 digits; empty for 0.
func FormatID(id uint64) string {
	if id == 0 {
		return ""
	}
	return HexID(id)
}
