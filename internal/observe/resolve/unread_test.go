// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// mountingSets are StatefulSets of a namespace with a script each, of which the last one starts etcd.
func mountingSets(namespace string, n int) observetest.Objects {
	var out observetest.Objects
	for i := range n {
		name, script := fmt.Sprintf("m%03d", i), "exec /app"
		if i == n-1 {
			script = "exec etcd"
		}
		set := observetest.MountingSet(name, "etcd:v3", name)
		set.Namespace, set.Labels = namespace, map[string]string{"n": name}
		out = append(out, set, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{"start.sh": script}})
	}
	return out
}

// TestUnread holds that a StatefulSet is never taken for one that runs no etcd because its script was not
// read: too many were read before.
//
//nolint:gocyclo // one check after the other
func TestUnread(t *testing.T) {
	t.Parallel()
	objects := append(mountingSets("a", 210), mountingSets("b", 2)...)
	r := &observe.Reader{Reader: objects, Scripts: podfiles.NewScripts()}
	owners, err := r.Clusters(t.Context())
	if err != nil || len(owners) != 1 || owners[0].Namespace != "b" {
		t.Errorf("the scripts of one namespace hide the clusters of another: %v, %v", owners, err)
	}
	unread := Unread(r.Scripts, "", labels.Everything())
	if len(unread) != 1 || unread[0].Namespace != "a" || len(unread[0].Names) != 10 {
		t.Fatalf("%v, want the last 10 StatefulSets of namespace a", unread)
	}
	for _, want := range []string{"StatefulSet m200, m201, m202 and 7 more in namespace a", "at most 200", "kubectl etcd status statefulset/m200 -n a"} {
		if !strings.Contains(unread[0].Error(), want) {
			t.Errorf("%q, want %q in it", unread[0], want)
		}
	}
	if got := Unread(r.Scripts, "b", labels.Everything()); len(got) > 0 {
		t.Errorf("of namespace b: %v", got)
	}
	if got := Unread(r.Scripts, "", labels.SelectorFromSet(labels.Set{"n": "m205"})); len(got) != 1 || len(got[0].Names) != 1 {
		t.Errorf("with the labels of one: %v", got)
	}
	named, err := Target(t.Context(), &observe.Reader{Reader: objects, Scripts: podfiles.NewScripts()}, "a", owner.Target{Kind: "statefulset", Name: "m209"})
	if err != nil || named.Name != "m209" {
		t.Errorf("the command in the message finds %v, %v", named, err)
	}
	many := observetest.Objects{}
	for i := range 11 {
		many = append(many, mountingSets(fmt.Sprintf("n%02d", i), 199)...)
	}
	r = &observe.Reader{Reader: many, Scripts: podfiles.NewScripts()}
	if _, err = r.Clusters(t.Context()); err != nil {
		t.Fatal(err)
	}
	if unread = Unread(r.Scripts, "", labels.Everything()); len(unread) != 1 || !strings.Contains(unread[0].Error(), "kubectl etcd list -n n10 reads those of one namespace") {
		t.Errorf("of 11 namespaces: %v", unread)
	}
}

// forbidding refuses to read some ConfigMaps and Secrets.
type forbidding struct{ observetest.Objects }

func (f forbidding) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	_, secret := obj.(*corev1.Secret)
	_, config := obj.(*corev1.ConfigMap)
	if (secret || config) && strings.HasPrefix(key.Name, "denied") {
		return errors.New("reading " + key.Name + " is forbidden")
	}
	return f.Objects.Get(ctx, key, obj, opts...)
}

// TestUnreadTarget has targets whose pods execute what can't be read, and such as only mount it.
func TestUnreadTarget(t *testing.T) {
	t.Parallel()
	script := observetest.MountingSet("script", "etcd:v3", "denied")
	image, app := observetest.MountingSet("image", "etcd:v3", "none"), observetest.MountingSet("app", "app:1", "none")
	from := []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "denied"}}}}
	image.Spec.Template.Spec.Containers[0].Command, image.Spec.Template.Spec.Containers[0].EnvFrom = nil, from
	app.Spec.Template.Spec.Containers[0].Command, app.Spec.Template.Spec.Containers[0].EnvFrom = []string{"/app"}, from
	app.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "ETCD_ENDPOINTS", Value: "x"}}
	gone, plain := observetest.MountingSet("gone", "etcd:v3", "gone"), observetest.MountingSet("plain", "etcd:v3", "none")
	plain.Spec.Template.Spec.Containers[0].Command = []string{"etcd"}
	pod := func(set string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: set + "-0", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "apps/v1", Kind: "StatefulSet", Name: set, Controller: new(true)},
		}}}
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "svc"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"a": "b"}}}
	objects := observetest.Objects{script, image, app, gone, pod("script"), pod("app"), service}
	for target, want := range map[string]string{
		"script": "reading denied is forbidden", "statefulset/image": "StatefulSet image in namespace team", "pod/script-0": "kubectl annotate statefulset script -n team",
		"svc/svc": "reading denied", "etcdcluster/x": "reading denied", "": "StatefulSet image and script in",
		"app": "no container that is known", "gone": "may run etcd, but nothing shows", "pod/app-0": "nothing shows",
	} {
		r := &observe.Reader{Reader: forbidding{objects}, Scripts: podfiles.NewScripts()}
		parsed, err := owner.ParseTarget(target)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Target(t.Context(), r, "team", parsed)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", target, err, want)
		}
	}
	only := &observe.Reader{Reader: forbidding{append(objects, plain)}, Scripts: podfiles.NewScripts()}
	if o, err := Target(t.Context(), only, "team", owner.Target{}); err == nil {
		t.Errorf("%v is taken for the only cluster", o)
	}
	if o, err := Target(t.Context(), only, "team", owner.Target{Name: "plain"}); err != nil || o.Name != "plain" {
		t.Errorf("plain: %v, %v", o, err)
	}
}
