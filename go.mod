module github.com/kubectl-etcd/kubectl-etcd

go 1.26.0
