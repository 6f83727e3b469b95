// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recover

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change/restoring"
)

// TestValidate: flags that contradict each other are refused before anything is read.
func TestValidate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		change func(*options)
		want   string
	}{
		{func(*options) {}, ""},
		{func(o *options) { o.DryRun = change.DryRunClient }, "--dry-run can't be used with --from-volume"},
		{func(o *options) { o.DryRun = change.DryRunServer }, "--dry-run can't be used with --from-volume"},
		{func(o *options) { o.File = "main.db" }, ""},
		{func(o *options) { o.Volumes, o.File = append(o.Volumes, "main-1"), "main.db" }, "--save-to names one file"},
		{func(o *options) { o.Lost = []string{"main-0"} }, "main-0 is in --lost and in --from-volume"},
		{func(o *options) { o.Volumes, o.DryRun = nil, change.DryRunClient }, ""},
	} {
		o := options{restoring.Source{Volumes: []string{"main-0"}, Options: restoring.Options{Flags: change.Flags{Wait: true, DryRun: change.DryRunNone}}}}
		row.change(&o)
		if err := o.validate(); (err != nil) != (row.want != "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: %v, want %q", o, err, row.want)
		}
	}
}
