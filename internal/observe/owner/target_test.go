// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"testing"
)

func TestParseTarget(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ arg, want string }{
		{"main", "main"},
		{"", ""},
		{"etcd/main", "etcd/main"},
		{"Etcds/main", "etcd/main"},
		{"etcds.druid.gardener.cloud/main", "etcd/main"},
		{"etcds.v1alpha1.druid.gardener.cloud/main", "etcd/main"},
		{"sts/main", "statefulset/main"},
		{"statefulsets.apps/main", "statefulset/main"},
		{"statefulsets.v1.apps/main", "statefulset/main"},
		{"svc/main-client", "service/main-client"},
		{"services.v1/main-client", "service/main-client"},
		{"po/main-0", "pod/main-0"},
		{"pods.v1./main-0", "pod/main-0"},
		{"etcdclusters.etcd-operator.cozystack.io/main", "etcdcluster/main"},
		{"deploy/main", "deployment/main"},
		{"daemonsets.apps/main", "daemonset/main"},

		{"/main", "error"},
		{"sts/", "error"},
		{"sts/a/b", "error"},
		{"cronjob/main", "error"},
		{"statefulsets.druid.gardener.cloud/main", "error"},
		{"etcds.apps/main", "error"},
		{"..", "error"},
	} {
		got, err := ParseTarget(row.arg)
		reported := got.String()
		if err != nil {
			reported = "error"
			t.Log(err)
		}
		if reported != row.want {
			t.Errorf("ParseTarget(%q) = %s, want %s", row.arg, reported, row.want)
		}
	}
}
