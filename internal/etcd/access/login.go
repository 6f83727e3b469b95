// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// login is a user of etcd and its password. Both are empty if there are none.
type login struct {
	user, password string
	// from describes where the password was read from.
	from string
	// unread is why the password of the pod's configuration can't be read.
	unread error
}

// login returns the user's settings, or root if the pod's configuration has its password. A
// password there that can't be read is no error: etcd may not ask for one.
func (f *finder) login(ctx context.Context, pod *corev1.Pod, s etcdconf.Config) (login, error) {
	if f.given.UserSecret != "" {
		return f.loginSecret(ctx)
	}
	if f.given.User != "" {
		user, password, _ := strings.Cut(f.given.User, ":")
		return login{user: user, password: password, from: "--etcd-user"}, nil
	}
	password, from, err := f.rootPassword(ctx, pod, s.Container)
	l := login{unread: err}
	if err == nil && password != "" {
		l = login{user: "root", password: password, from: from}
	}
	return l, nil
}

// loginSecret reads the Secret from the user's settings. It has a username and a password, or
// only root's password, as in charts.
func (f *finder) loginSecret(ctx context.Context) (login, error) {
	data, name, err := f.secret(ctx, f.given.UserSecret)
	if err != nil {
		return login{}, fmt.Errorf("log in: %w", withAdvice(err, "set a user with --etcd-user"))
	}
	user := string(data[corev1.BasicAuthUsernameKey])
	if f.given.User != "" {
		user, _, _ = strings.Cut(f.given.User, ":")
	}
	if user == "" {
		user = "root"
	}
	for _, key := range []string{corev1.BasicAuthPasswordKey, "etcd-root-password", "root-password"} {
		if len(data[key]) > 0 {
			password := strings.TrimRight(string(data[key]), "\n")
			return login{user: user, password: password, from: fmt.Sprintf("Secret %s, key %s", name, key)}, nil
		}
	}
	return login{}, fmt.Errorf("log in: Secret %s has no key %q", name, corev1.BasicAuthPasswordKey)
}

// rootPassword returns root's password as Bitnami's start script reads it, and where it is from:
// from a variable, or from a file that a variable names. It is empty if there is neither.
func (f *finder) rootPassword(ctx context.Context, pod *corev1.Pod, container string) (password, from string, err error) {
	const variable, fileVariable = "ETCD_ROOT_PASSWORD", "ETCD_ROOT_PASSWORD_FILE"
	password, _, err = f.files.Variable(ctx, pod, container, variable)
	if err != nil || password != "" {
		return password, f.variableFrom(ctx, pod, container, variable), err
	}
	file, _, err := f.files.Variable(ctx, pod, container, fileVariable)
	if err != nil || file == "" {
		return "", "", err
	}
	text, origin, err := f.files.File(ctx, pod, container, file)
	return strings.TrimRight(string(text), "\n"), inNamespace(origin, pod.Namespace), err
}

// variableFrom describes where a variable of a pod is from.
func (f *finder) variableFrom(ctx context.Context, pod *corev1.Pod, container, name string) string {
	origin := etcdconf.VariableOrigin(pod, container, name, f.files.Contents(ctx))
	if origin.Kind == "" {
		return fmt.Sprintf("variable %s of pod %s/%s", name, pod.Namespace, pod.Name)
	}
	return inNamespace(origin, pod.Namespace)
}

// inNamespace describes the object and key of an origin.
func inNamespace(origin etcdconf.Origin, namespace string) string {
	return fmt.Sprintf("%s %s/%s, key %s", origin.Kind, namespace, origin.Name, origin.Key)
}
