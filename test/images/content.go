// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// content returns the image, made of the parts.
func (i Image) content(built parts) (v1.Image, error) {
	layers := []v1.Layer{newLayer(base())}
	files := i.files(built)
	if i.busybox {
		tools, err := busyboxFiles(built.busybox)
		if err != nil {
			return nil, err
		}
		files = append(files, tools...)
	}
	layers = append(layers, newLayer(files))

	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.AppendLayers(image, layers...)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config = v1.Config{
		Entrypoint: i.entrypoint,
		Cmd:        i.command,
		User:       i.user,
		WorkingDir: "/",
		Env:        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
	}
	return mutate.ConfigFile(image, config)
}

// files returns the image's programs and folders.
func (i Image) files(built parts) []file {
	var files []file
	for _, folder := range i.folders {
		files = append(files, file{path: folder, folder: true, mode: 0o755})
	}
	for _, p := range i.programs {
		files = append(files, file{path: p.path, from: built.programs[p.name], mode: 0o755})
	}
	return files
}

// base returns what every image stands on. The users must be known and have homes
// that they can write: etcd-backup-restore puts backups below the home
// directory, and where there is none below /, out of the mounted store and with
// no error.
func base() []file {
	const user = 65532
	return []file{
		{path: "/etc", folder: true, mode: 0o755},
		{path: "/etc/passwd", mode: 0o644, data: "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"},
		{path: "/etc/group", mode: 0o644, data: "root:x:0:\nnonroot:x:65532:\n"},
		{path: "/etc/nsswitch.conf", mode: 0o644, data: "hosts: files dns\n"},
		{path: "/home", folder: true, mode: 0o755},
		{path: "/home/nonroot", folder: true, mode: 0o700, owner: user},
		{path: "/root", folder: true, mode: 0o700},
		{path: "/tmp", folder: true, mode: 0o1777},
		{path: "/usr", folder: true, mode: 0o755},
		{path: "/usr/local", folder: true, mode: 0o755},
		{path: "/usr/local/bin", folder: true, mode: 0o755},
		{path: "/var", folder: true, mode: 0o755},
		{path: "/var/lib", folder: true, mode: 0o755},
	}
}
