print("posthorn")
