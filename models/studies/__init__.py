"""Studies, each a command of ``talus``, such as ``ankle``, ``pendulum``, ``gait``, ``joints``, ``claims``, ``validate``.

A study is a function ``(folder, say, **options) -> Report`` that writes tables, figures and data into ``folder``; the command
reads its options off the signature and the docstring.  ``measures`` holds the quantities that several studies take from runs.
Modules of this folder import ``models``, the public names of ``runtime``, and one another without circles; ``models`` itself does
not import them, so that ``import models`` stays fast.

The papers, cited in tables, figures, file names and messages by author and year:

- Rodrigues da Silva et al. (2024a). A new skeletal model for the ankle joint complex. Multibody Syst Dyn 60, 27-63.
- Rodrigues da Silva et al. (2024b). An improved methodology to restrict the range of motion of mechanical joints.
  Nonlinear Dyn 112, 4227-4256.
- Rodrigues da Silva et al. (2024c). A methodology to restrict the range of motion of joints: Application to the ankle joint
  complex. Mech Mach Theory.
- Rodrigues da Silva et al. (n.d.). Modeling the ankle articular complex: a computational and experimental analysis. Manuscript.
- Moreira et al. (2011). A biomechanical multibody foot model for forward dynamic analysis for orthosis design.
"""
