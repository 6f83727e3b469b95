// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// TestTypedName: references are text of other users, and a shell reads what is printed.
func TestTypedName(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ version, kind, name, want string }{
		{"example.com/v1", "Storage", "main", "storage.example.com main"},
		{"v1", "Pod", "main-0", "pod main-0"},
		{"example.com/v1", "Storage", "main:A", "storage.example.com main:A"},
		{"example.com/v1", "Storage;reboot", "main", "KIND NAME"},
		{"example.com/v1", "--filename=http://example.com", "main", "KIND NAME"},
		{"$(reboot)/v1", "Storage", "main", "KIND NAME"},
		{"example.com/v1", "Storage", "main; reboot", "KIND NAME"},
		{"example.com/v1", "Storage", "--filename=x", "KIND NAME"},
		{"example.com/v1", "Storage", "", "KIND NAME"},
	} {
		ref := &metav1.OwnerReference{APIVersion: row.version, Kind: row.kind, Name: row.name}
		if got := TypedName(ref); got != row.want {
			t.Errorf("%v: %q, want %q", row, got, row.want)
		}
		o := Owner{Distribution: flavour.Plain, WorkloadKind: StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", Controller: ref}
		if how := o.Membership().ScaleHow; !strings.HasSuffix(how, ": kubectl edit "+row.want+" -n team") {
			t.Errorf("%v: %s", row, how)
		}
	}
}

// TestReleaseIsName: a release is no text that Helm doesn't accept as a name.
func TestReleaseIsName(t *testing.T) {
	t.Parallel()
	for release, want := range map[string]string{"shop": "shop", "shop.v2": "shop.v2", "": "", "shop; reboot": "", "--post-renderer=./x": "", "$(reboot)": "", "shop\nreboot": ""} {
		if got := (Owner{Annotations: map[string]string{helmRelease: release}}).Release(); got != want {
			t.Errorf("%q: %q, want %q", release, got, want)
		}
	}
}
