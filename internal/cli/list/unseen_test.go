// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package list

import (
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/gather"
)

// TestReportUnseen holds that list doesn't succeed where clusters may be missing, and prints how to see them.
func TestReportUnseen(t *testing.T) {
	t.Parallel()
	unread := v1alpha1.Unseen{What: gather.UnreadWorkloads, Why: "it is not known whether StatefulSet m runs etcd"}
	for _, row := range []struct {
		name            string
		unseen          []v1alpha1.Unseen
		want            string
		unhealthy, warn bool
	}{
		{"nothing", nil, "", false, false},
		{"no zones", []v1alpha1.Unseen{{What: "nodes", Why: "forbidden"}}, "", false, true},
		{"no pods", []v1alpha1.Unseen{{What: "pods", Why: "forbidden"}}, "you may not list pods", false, false},
		{"scripts that are not read", []v1alpha1.Unseen{unread}, unread.Why, true, false},
		{"both", []v1alpha1.Unseen{unread, {What: "pods"}}, "you may not list pods", false, true},
	} {
		streams, _, _, stderr := genericiooptions.NewTestIOStreams()
		err := reportUnseen(app.New(streams), row.unseen, "")
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
		if app.Is[*app.UnhealthyError](err) != row.unhealthy || (stderr.Len() > 0) != row.warn {
			t.Errorf("%s: %T, %q", row.name, err, stderr)
		}
	}
}
