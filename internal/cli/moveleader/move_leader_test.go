// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package moveleader

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestOneTarget: the pod of the new leader is no argument, and the error names its flag.
func TestOneTarget(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"main":        "",
		"main main-1": "kubectl etcd move-leader main --to main-1",
		"":            "accepts 1 arg(s), received 0",
		"a b c":       "accepts 1 arg(s), received 3",
	} {
		err := oneTarget(&cobra.Command{}, strings.Fields(args))
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}
