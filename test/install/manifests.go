// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/kubectl-etcd/kubectl-etcd/manifests"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/test/images"
)

// manifests renders the project's default overlay with kubectl, as a user would. It sets the
// image by digest, so that another build causes another rollout.
func (k *kube) manifests(ctx context.Context) ([]map[string]any, error) {
	dir, err := os.MkdirTemp("", "etcd-webhook-manifests-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, manifests.Files); err != nil {
		return nil, err
	}
	image, err := k.image(ctx)
	if err != nil {
		return nil, err
	}
	overlay, err := yaml.Marshal(map[string]any{
		"resources": []string{"../overlays/self-signed"},
		"images":    []map[string]string{image},
	})
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(dir, "overlay"), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay", "kustomization.yaml"), overlay, 0o600); err != nil {
		return nil, err
	}
	text, err := k.kubectl(ctx, nil, "kustomize", filepath.Join(dir, "overlay"))
	if err != nil {
		return nil, err
	}
	return parse(text)
}

// image returns the image that the testbed's registry has now, by digest.
func (k *kube) image(ctx context.Context) (map[string]string, error) {
	ref, err := name.ParseReference(images.Webhook)
	if err != nil {
		return nil, err
	}
	registry, err := name.NewRegistry(k.tb.Registry(), name.Insecure)
	if err != nil {
		return nil, err
	}
	there, err := remote.Head(registry.Repo(ref.Context().RepositoryStr()).Tag(ref.Identifier()), remote.WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("find image %s: %w", images.Webhook, err)
	}
	return map[string]string{"name": ref.Context().Name(), "digest": there.Digest.String()}, nil
}

func parse(text []byte) ([]map[string]any, error) {
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	var out []map[string]any
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		var o map[string]any
		if err := yaml.Unmarshal(doc, &o); err != nil {
			return nil, err
		}
		if o != nil {
			out = append(out, o)
		}
	}
}
