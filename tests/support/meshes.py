"""A tetrahedron without its fourth side, as PolyData of VTK."""

TETRAHEDRON = """<?xml version="1.0"?>
<VTKFile type="PolyData" version="0.1"><PolyData><Piece NumberOfPoints="4" NumberOfPolys="2">
<Points><DataArray type="Float32" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 1 1 0 0 1 0</DataArray></Points>
<Polys><DataArray type="Int32" Name="connectivity" format="ascii">0 1 2 3 0 2 3</DataArray>
<DataArray type="Int32" Name="offsets" format="ascii">4 7</DataArray></Polys></Piece></PolyData></VTKFile>
"""
