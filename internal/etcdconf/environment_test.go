// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestEnvironmentBounds holds that variables which double each other cost little.
func TestEnvironmentBounds(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"", "0123456789abcdef"} {
		env := []corev1.EnvVar{{Name: "A0", Value: first}}
		for i := range 100 {
			a := fmt.Sprintf("$(A%d)", i)
			env = append(env, corev1.EnvVar{Name: fmt.Sprintf("A%d", i+1), Value: a + a})
		}
		e := newEnvironment(&corev1.Pod{}, &corev1.Container{Env: env}, nil)
		got, _ := e.lookup("A100")
		if got != "" || errors.Is(e.err, errTooLong) != (first != "") {
			t.Errorf("%q doubled 100 times: %d bytes, error %v", first, len(got), e.err)
		}
	}
}
