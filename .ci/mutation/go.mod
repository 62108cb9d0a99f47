module mutation

go 1.25
