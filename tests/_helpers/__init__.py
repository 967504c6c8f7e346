"""Problems, reference implementations and engines that several tests share."""
