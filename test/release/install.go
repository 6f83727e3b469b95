// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// imageName is what the manifests call the webhook's image.
const imageName = "ghcr.io/kubectl-etcd/etcd-webhook"

// overlays are what one file to apply is rendered of, by that file's name.
var overlays = map[string]string{
	"etcd-webhook.yaml":              "self-signed",
	"etcd-webhook-cert-manager.yaml": "cert-manager",
}

// writeManifests renders each overlay with the image that was made, by its digest,
// for those who install without a checkout.
func (o Options) writeManifests(version, digest string) error {
	for file, overlay := range overlays {
		text, err := o.render(overlay, types.Image{Name: imageName, NewTag: version, Digest: digest})
		if err != nil {
			return fmt.Errorf("render manifests/overlays/%s: %w", overlay, err)
		}
		if err := os.WriteFile(filepath.Join(o.Out, file), text, 0o644); err != nil { //nolint:gosec // it is to be published
			return err
		}
	}
	return nil
}

func (o Options) render(overlay string, image types.Image) ([]byte, error) {
	top, err := yaml.Marshal(types.Kustomization{
		TypeMeta:  types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind},
		Resources: []string{"../manifests/overlays/" + overlay},
		Images:    []types.Image{image},
	})
	if err != nil {
		return nil, err
	}
	// Source is a clone of this package's own.
	dir := filepath.Join(o.Source, "rendered")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), top, 0o600); err != nil {
		return nil, err
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	return objects.AsYaml()
}
