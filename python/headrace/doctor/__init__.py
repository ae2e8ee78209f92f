"""`headrace doctor`: what libhdf5 a program loads, what our plug-ins did in it, what is wrong."""
