"""What a fit returns: terms, shapes and steps, and the models made of them, which predict with NumPy alone."""
