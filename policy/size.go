// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import "fmt"

// AdvisedMembers is the largest number of members that etcd's documentation advises
// (https://etcd.io/docs/latest/faq/, "What is maximum cluster size?").
const AdvisedMembers = 7

// MaxScale is the largest size that kubectl etcd scale accepts: it reads each ordinal.
const MaxScale = 15

// EvenSize returns what is wrong with an even number of members, empty for an odd number and for 0. noun is what is
// counted, such as voters.
func EvenSize(n int, noun string) string {
	if n <= 0 || n%2 != 0 {
		return ""
	}
	return fmt.Sprintf("%d %s tolerate no more failures than %d", n, noun, n-1)
}
