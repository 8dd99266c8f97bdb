// A person followed by markers with Pinocchio, all in C++: the loop of torseur's own method around Pinocchio's Jacobians.
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <Eigen/Cholesky>
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

using namespace pinocchio;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

struct Person {
  Model model;
  Data data;
  std::vector<JointIndex> carriers;
  std::vector<Eigen::Vector3d> places;
  Matrix J;
};

struct Settings {
  double start, least, most, longest, tolerance;
  int rounds;
};

extern "C" {
// Joints: parent, 0 to turn or 1 to slide, axis, rotation by rows, position. Markers: joint, place.
void *markers_load(const char *path) {
  std::ifstream file(path);
  int joints, markers;
  file >> joints >> markers;
  Model model;
  for (int i = 0; i < joints; i++) {
    int parent, slides;
    double v[15];
    file >> parent >> slides;
    for (double &x : v) file >> x;
    SE3 place;
    place.rotation() = Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(v + 3);
    place.translation() = Eigen::Map<Eigen::Vector3d>(v + 12);
    const Eigen::Vector3d axis(v[0], v[1], v[2]);
    const std::string name = "joint" + std::to_string(i);
    if (slides) model.addJoint(parent, JointModelPrismaticUnaligned(axis), place, name);
    else if (axis == Eigen::Vector3d::UnitX()) model.addJoint(parent, JointModelRX(), place, name);
    else if (axis == Eigen::Vector3d::UnitY()) model.addJoint(parent, JointModelRY(), place, name);
    else if (axis == Eigen::Vector3d::UnitZ()) model.addJoint(parent, JointModelRZ(), place, name);
    else model.addJoint(parent, JointModelRevoluteUnaligned(axis), place, name);
  }
  auto *person = new Person{model, Data(model), {}, {}, Matrix::Zero(3 * markers, model.nv)};
  for (int k = 0; k < markers; k++) {
    int joint;
    double x, y, z;
    file >> joint >> x >> y >> z;
    person->carriers.push_back(joint);
    person->places.emplace_back(x, y, z);
  }
  return person;
}
}

// Lower triangle of JᵀJ, Jᵀ(m - x) and |m - x|² at a configuration. Columns that do not move a marker stay zero in J.
static double normal_equations(Person &p, const Vector &q, const double *points, Matrix &A, Vector &g) {
  computeJointJacobians(p.model, p.data, q);
  Vector gap(p.J.rows());
  for (size_t k = 0; k < p.carriers.size(); k++) {
    const JointIndex carrier = p.carriers[k];
    const Eigen::Vector3d x = p.data.oMi[carrier].act(p.places[k]);
    gap.segment<3>(3 * k) = Eigen::Map<const Eigen::Vector3d>(points + 3 * k) - x;
    for (JointIndex j = carrier; j > 0; j = p.model.parents[j]) {
      const int c = p.model.joints[j].idx_v();
      p.J.block<3, 1>(3 * k, c) = p.data.J.block<3, 1>(0, c) + p.data.J.block<3, 1>(3, c).cross(x);
    }
  }
  A.setZero();
  A.selfadjointView<Eigen::Lower>().rankUpdate(p.J.transpose());
  g.noalias() = p.J.transpose() * gap;
  return gap.squaredNorm();
}

static int fit(Person &p, const Settings &s, const double *points, Vector &q) {
  const int n = p.model.nv;
  Matrix A(n, n), next_A(n, n), damped(n, n);
  Vector g(n), next_g(n), change(n), trial(n);
  double cost = normal_equations(p, q, points, A, g), damping = s.start;
  for (int done = 1; done <= s.rounds; done++) {
    damped = A;
    damped.diagonal() *= 1 + damping;
    change = damped.selfadjointView<Eigen::Lower>().llt().solve(g);
    const double longest = change.cwiseAbs().maxCoeff();
    trial = q + change * std::min(1.0, s.longest / longest);
    const double next = normal_equations(p, trial, points, next_A, next_g);
    if (next <= cost || longest < s.tolerance) {
      q = trial;
      A.swap(next_A);
      g.swap(next_g);
      cost = next;
      damping = std::max(0.1 * damping, s.least);
      if (longest < s.tolerance) return done;
    } else if ((damping = std::max(10 * damping, 1e-4)) >= s.most) {
      return done;
    }
  }
  return s.rounds;
}

extern "C" int markers_track(void *person_, const double *settings, int frames, const double *points, const double *start,
                             double *found) {
  Person &person = *static_cast<Person *>(person_);
  const Settings s{settings[0], settings[1], settings[2], settings[3], settings[4], static_cast<int>(settings[5])};
  const int n = person.model.nv, width = 3 * static_cast<int>(person.carriers.size());
  Vector q = Eigen::Map<const Vector>(start, n);
  int rounds = 0;
  for (int f = 0; f < frames; f++) {
    rounds += fit(person, s, points + f * width, q);
    Eigen::Map<Vector>(found + f * n, n) = q;
  }
  return rounds;
}
