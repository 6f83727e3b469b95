// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

const adviseUser = "set a user with --etcd-user, or a Secret with one with --user-secret"

// login returns the user and password: the user's settings, or root if the pod's
// environment has its password. Both are empty if there are none.
func (f *finder) login(ctx context.Context, pod *corev1.Pod, s etcdconf.Config) (user, password string, err error) {
	if f.given.UserSecret != "" {
		return f.loginSecret(ctx)
	}
	if f.given.User != "" {
		user, password, _ = strings.Cut(f.given.User, ":")
		return user, password, nil
	}
	password, err = f.rootPassword(ctx, pod, s.Container)
	if err != nil {
		return "", "", fmt.Errorf("log in to pod %s/%s: %w", pod.Namespace, pod.Name, withAdvice(err, adviseUser))
	}
	if password != "" {
		return "root", password, nil
	}
	return "", "", nil
}

// loginSecret reads the Secret from the user's settings. It has a username and a password, or
// only root's password, as in charts.
func (f *finder) loginSecret(ctx context.Context) (user, password string, err error) {
	data, name, err := f.secret(ctx, f.given.UserSecret)
	if err != nil {
		return "", "", fmt.Errorf("log in: %w", withAdvice(err, "set a user with --etcd-user"))
	}
	user = string(data[corev1.BasicAuthUsernameKey])
	if f.given.User != "" {
		user, _, _ = strings.Cut(f.given.User, ":")
	}
	if user == "" {
		user = "root"
	}
	for _, key := range []string{corev1.BasicAuthPasswordKey, "etcd-root-password", "root-password"} {
		if len(data[key]) > 0 {
			return user, strings.TrimRight(string(data[key]), "\n"), nil
		}
	}
	return "", "", fmt.Errorf("log in: Secret %s has no key %q", name, corev1.BasicAuthPasswordKey)
}

// rootPassword returns root's password as Bitnami's start script reads it: from a variable,
// or from a file that a variable names. It is empty if there is neither.
func (f *finder) rootPassword(ctx context.Context, pod *corev1.Pod, container string) (string, error) {
	password, _, err := f.files.Variable(ctx, pod, container, "ETCD_ROOT_PASSWORD")
	if err != nil || password != "" {
		return password, err
	}
	file, _, err := f.files.Variable(ctx, pod, container, "ETCD_ROOT_PASSWORD_FILE")
	if err != nil || file == "" {
		return "", err
	}
	text, _, err := f.files.File(ctx, pod, container, file)
	return strings.TrimRight(string(text), "\n"), err
}
