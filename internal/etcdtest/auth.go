// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// users is the part of a member's server that is about authentication.
type users struct {
	pb.UnimplementedAuthServer

	cluster *Cluster
}

func (u *users) AuthStatus(context.Context, *pb.AuthStatusRequest) (*pb.AuthStatusResponse, error) {
	if err := u.cluster.NoUser; err != nil {
		return nil, err
	}
	return &pb.AuthStatusResponse{Enabled: u.cluster.Auth}, nil
}
