// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package format

import "strings"

// OneLine returns a text with every run of white space as one space.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
