// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// TestMemberOfAnotherWorkload has a cluster with its third member in another StatefulSet. All
// commands handle it as one cluster. No command calls the third member dead or removes it while
// it is alive, has a pod, or may be alive. When the member is gone, the command that status
// prints removes it.
func TestMemberOfAnotherWorkload(t *testing.T) {
	operating(t, 3)
	if err := images.Push(t.Context(), programs.Cache{}, bed.Registry(), []string{images.Etcd("v3.6.16")}, io.Discard); err != nil {
		t.Fatal(err)
	}
	ns := namespace(t)
	kubectl := func(args ...string) {
		t.Helper()
		retry(t, "kubectl "+strings.Join(args, " "), func(ctx context.Context) error {
			return clusters.Kubectl(ctx, bed, t.Output(), append(args, "-n", ns)...)
		})
	}
	kubectl("apply", "-f", filepath.Join("testdata", "two-statefulsets.yaml"))
	kubectl("wait", "--for=jsonpath={.status.readyReplicas}=2", "--timeout=10m", "statefulset/east")
	kubectl("wait", "--for=jsonpath={.status.readyReplicas}=1", "--timeout=10m", "statefulset/west")

	remove := []string{"member", "remove", "statefulset/east", "west-0", "-n", ns, "-y"}
	stdout, stderr := prints(t, 0, []string{"3 of 3 voters healthy", "west-0"}, "status", "statefulset/east", "-n", ns)
	lacks(t, stdout+stderr, "member remove", "dead voter", "no pod of this cluster runs it")
	prints(t, 0, []string{"3 of 3 voters healthy"}, "status", "statefulset/west", "-n", ns)
	refuses(t, []string{"it has a pod"}, remove...)

	// A pod that can't be scheduled has the member's name. Its volume may be on any node, so the
	// member may be alive.
	kubectl("patch", "statefulset", "west", "--type=merge", "-p", `{"spec":{"template":{"spec":{"nodeSelector":{"nowhere":"true"}}}}}`)
	stdout, stderr = prints(t, 3, []string{"2 of 3 voters healthy", "west-0"}, "status", "statefulset/east", "-n", ns)
	lacks(t, stdout+stderr, "member remove")
	refuses(t, []string{"it has a pod"}, remove...)

	kubectl("delete", "statefulset", "west")
	stdout, stderr = prints(t, 3, []string{"kubectl etcd member remove statefulset/east "}, "status", "statefulset/east", "-n", ns)
	typed := regexp.MustCompile(`member remove statefulset/east [0-9a-f]{16} -n ` + ns).FindString(stdout + stderr)
	prints(t, 0, []string{"removed member"}, append(strings.Fields(typed), "-y")...)
	prints(t, 0, []string{"2 of 2 voters healthy"}, "status", "statefulset/east", "-n", ns)
}

// lacks checks that a text contains none of the texts.
func lacks(t *testing.T, text string, texts ...string) {
	t.Helper()
	for _, w := range texts {
		if strings.Contains(text, w) {
			t.Errorf("unexpected %q in:\n%s", w, text)
		}
	}
}
