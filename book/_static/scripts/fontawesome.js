/* In the place of 1.5 MB of icons, which the theme loads: its font of icons has all that pages show. */
