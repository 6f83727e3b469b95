module github.com/kubectl-etcd/kubectl-etcd/test

go 1.26.0

replace github.com/kubectl-etcd/kubectl-etcd => ../
