// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package podexec runs commands in pods, as kubectl exec does.
package podexec

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
)

// Runner runs commands in a container of the pods of one namespace. Admission may have added others.
type Runner struct {
	Config               *rest.Config
	Namespace, Container string
}

// Run runs a command in a pod, and waits until it ends. Nil for in is an empty
// input. The error has what the command wrote to stderr.
func (r Runner) Run(ctx context.Context, pod string, command []string, in io.Reader, out io.Writer) error {
	executor, err := r.executor(pod, &corev1.PodExecOptions{Container: r.Container, Command: command, Stdin: in != nil, Stdout: true, Stderr: true})
	if err != nil {
		return err
	}
	var failure strings.Builder
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: in, Stdout: out, Stderr: &failure})
	if text := strings.TrimSpace(failure.String()); err != nil && text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	return err
}

// executor prefers a WebSocket, and falls back to SPDY where the API server or a proxy has none.
func (r Runner) executor(pod string, options *corev1.PodExecOptions) (remotecommand.Executor, error) {
	config := rest.CopyConfig(r.Config)
	config.APIPath, config.GroupVersion, config.NegotiatedSerializer = "/api", &corev1.SchemeGroupVersion, scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	url := client.Post().Resource("pods").Name(pod).Namespace(r.Namespace).SubResource("exec").VersionedParams(options, scheme.ParameterCodec).URL()
	socket, err := remotecommand.NewWebSocketExecutor(config, http.MethodGet, url.String())
	if err != nil {
		return nil, err
	}
	spdy, err := remotecommand.NewSPDYExecutor(config, http.MethodPost, url)
	if err != nil {
		return nil, err
	}
	return remotecommand.NewFallbackExecutor(socket, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
}
