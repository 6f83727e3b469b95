// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import "mvdan.cc/sh/v3/syntax"

// Bounds of what is done with a script that was parsed. Its functions may call each other in a number of ways
// that no length of a script bounds, and any tenant may create a pod that the webhook reads.
const (
	maxWork = 1 << 18
	// trapWork is what a trap costs beside its length: it may set itself again.
	trapWork = 1 << 10
	// bytesPerWork is how much text of a command costs as much as a node.
	bytesPerWork = 16
)

// work is what has been done with a script and its copies: nodes that were walked, and names that were changed.
// expanded is how much text of commands was made fields of, which done bounds.
type work struct{ done, expanded int }

// spend records work, and reports whether it may be done.
func (w *work) spend(n int) bool {
	if !w.exceeded() {
		w.done += n
	}
	return !w.exceeded()
}

func (w *work) exceeded() bool { return w.done > maxWork }

// Exceeded reports whether the script has more calls than are followed, so that its ways are not known.
func (s *Script) Exceeded() bool { return s.work.exceeded() }

// workOfCall returns what a command costs by its length, and by the arguments that are expanded each time.
func (s *Script) workOfCall(c *syntax.CallExpr) int {
	if _, found := s.own.plain[c]; found {
		return workOf(c)
	}
	return workOf(c) + len(c.Args)
}

// workOf returns what a node costs by its length.
func workOf(node syntax.Node) int {
	return 1 + int(node.End().Offset()-node.Pos().Offset())/bytesPerWork
}
