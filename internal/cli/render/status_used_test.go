// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// TestUsed: the table shows the number that check compares with its limit, and has a color from that limit.
func TestUsed(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		size, quota int64
		want        ui.Cell
	}{
		{0, 1000, ui.Cell{}},
		{500, 0, ui.Cell{}},
		{796, 1000, ui.Cell{Text: "79%"}},
		{800, 1000, ui.Cell{Text: "80%", Color: ui.Yellow}},
		{1009, 1000, ui.Cell{Text: "100%", Color: ui.Yellow}},
	} {
		if got := usedCell(&v1alpha1.MemberStatus{DBSize: row.size, Quota: row.quota}); got != row.want {
			t.Errorf("%d of %d: %+v, want %+v", row.size, row.quota, got, row.want)
		}
	}
}
