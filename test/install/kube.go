// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"github.com/go-logr/logr"
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// kube connects to a testbed by a client and by kubectl.
type kube struct {
	client.Client
	tb Testbed
}

func connect(tb Testbed) (*kube, error) {
	c, err := Client(tb)
	if err != nil {
		return nil, err
	}
	return &kube{Client: c, tb: tb}, nil
}

// Client returns an administrator's client that knows the types of Kubernetes and ours.
func Client(tb Testbed) (client.Client, error) {
	// The client's errors contain all that it logs. Without a logger, it prints a warning on
	// standard error.
	log.SetLogger(logr.Discard())
	types := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(types), v1alpha1.AddToScheme(types), druidv1alpha1.AddToScheme(types)); err != nil {
		return nil, err
	}
	config, err := tb.RESTConfig()
	if err != nil {
		return nil, fmt.Errorf("reach testbed: %w", err)
	}
	config.Wrap(clusters.Persistently)
	c, err := client.New(config, client.Options{Scheme: types})
	if err != nil {
		return nil, fmt.Errorf("reach testbed: %w", err)
	}
	return c, nil
}

// unreached matches kubectl's output if it couldn't connect to the API server before a request,
// or if it waits for a definition that has no condition yet.
var unreached = regexp.MustCompile(`TLS handshake timeout|connection refused|was refused|no route to host|status\.conditions accessor error`)

// kubectl runs the testbed's kubectl and returns its standard output. If the API server can't be
// reached, it retries for a while.
func (k *kube) kubectl(ctx context.Context, stdin []byte, args ...string) (out []byte, err error) {
	for try := 1; ; try++ {
		if out, err = k.kubectlOnce(ctx, stdin, args...); err == nil || try == 10 || !unreached.MatchString(err.Error()) {
			return out, err
		}
		select {
		case <-ctx.Done():
			return out, err
		case <-time.After(2 * time.Second):
		}
	}
}

func (k *kube) kubectlOnce(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, k.tb.Kubectl(), append([]string{"--kubeconfig", k.tb.Kubeconfig()}, args...)...) //nolint:gosec // the arguments are this package's
	cmd.Stdin = bytes.NewReader(stdin)
	var out, texts bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &texts
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(texts.String()))
	}
	return out.Bytes(), nil
}

// apply applies definitions first and waits until they are served.
func (k *kube) apply(ctx context.Context, objects []map[string]any) error {
	var definitions, rest []map[string]any
	for _, o := range objects {
		if o["kind"] == "CustomResourceDefinition" {
			definitions = append(definitions, o)
		} else {
			rest = append(rest, o)
		}
	}
	for _, part := range [][]map[string]any{definitions, rest} {
		text, err := stream(part)
		if err != nil {
			return err
		}
		if _, err := k.kubectl(ctx, text, "apply", "--server-side", "--force-conflicts", "--field-manager", "testbed", "-f", "-"); err != nil {
			return err
		}
		if len(part) > 0 && part[0]["kind"] == "CustomResourceDefinition" {
			if _, err := k.kubectl(ctx, text, "wait", "--for", "condition=Established", "--timeout", "5m", "-f", "-"); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove deletes all objects except definitions. The deletion of a definition would delete all
// of its objects.
func (k *kube) remove(ctx context.Context, objects []map[string]any) error {
	var rest []map[string]any
	for _, o := range objects {
		if o["kind"] != "CustomResourceDefinition" {
			rest = append(rest, o)
		}
	}
	text, err := stream(rest)
	if err != nil {
		return err
	}
	_, err = k.kubectl(ctx, text, "delete", "--ignore-not-found", "--timeout", "8m", "-f", "-")
	return err
}

func stream(objects []map[string]any) ([]byte, error) {
	var out bytes.Buffer
	for _, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return out.Bytes(), nil
}

// await is clusters.Await with this package's timeout.
func await(ctx context.Context, what string, condition clusters.ConditionFunc) error {
	return clusters.Await(ctx, 8*time.Minute, what, condition)
}
